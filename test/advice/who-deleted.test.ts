/** Who deleted a pod, and why, from audit logs in which the deletion does not name the pod, or names several pods. */
import { describe, expect, it } from 'vitest';
import { scenarioFile } from '../helpers/recordings.ts';
import { auditLogOf, whyFrom, whyReportFrom, type AuditReport } from './helpers/audit-log.ts';

type Level = 'Metadata' | 'RequestResponse';
interface Line {
  verb: string;
  user: { username: string };
  objectRef: { resource: string; subresource?: string; name?: string };
  requestURI?: string;
  responseObject?: unknown;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
}

const controller = (name: string): string => `system:serviceaccount:kube-system:${name}`;

/** The log of a pod that a client deleted; its lines oldest first. */
function logOf(level: Level | 'Request of the kubelet') {
  const { lines, pod, namespace } = auditLogOf(scenarioFile('sigkill-after-grace'), level);
  const events = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line);
  return { events: events.filter(({ requestReceivedTimestamp }) => requestReceivedTimestamp), pod, namespace };
}

type Pod = { metadata: Record<string, unknown> };
const podOf = ({ responseObject }: Line): Pod => responseObject as Pod;

const shiftedBy = (ms: number, event: Line): Line => ({
  ...event,
  requestReceivedTimestamp: new Date(Date.parse(event.requestReceivedTimestamp) + ms).toISOString(),
  stageTimestamp: new Date(Date.parse(event.stageTimestamp) + ms).toISOString(),
});

const isDelete = ({ verb, user }: Line): boolean => verb === 'delete' && user.username === 'kubernetes-admin';

const logFrom = (events: readonly Line[]): string => events.map((event) => JSON.stringify(event)).join('\n');

const whyFromLines = (events: readonly Line[], pod: string, namespace: string) =>
  whyReportFrom(logFrom(events), pod, namespace);

describe('a deletion of many pods at once', () => {
  /** What `why` says if the namespace controller deleted the pod together with others. */
  async function afterDeletecollection(level: Level, { query = '', listed }: { query?: string; listed?: string }) {
    const { events, pod, namespace } = logOf(level);
    const asCollection = (event: Line): Line => ({
      ...event,
      verb: 'deletecollection',
      user: { username: controller('namespace-controller') },
      objectRef: { resource: 'pods', ...{ namespace } },
      requestURI: `/api/v1/namespaces/${namespace}/pods${query}`,
      responseObject: listed && { kind: 'PodList', metadata: {}, items: [{ metadata: { name: listed } }] },
    });
    // Shows that the pod existed before.
    const [early] = events.filter(({ objectRef }) => objectRef.subresource === 'status');
    const report = await whyFromLines(
      [
        { ...shiftedBy(-60_000, early as Line), responseObject: undefined },
        ...events.map((event) => (isDelete(event) ? asCollection(event) : event)),
      ],
      pod,
      namespace,
    );
    const isNamed = report.deletedBy?.user === controller('namespace-controller');
    return { isNamed, trigger: report.trigger, cannotTell: report.cannotTell.join('\n') };
  }
  const { pod } = logOf('Metadata');

  it('is the deletion of the pods that its response lists', async () =>
    expect(await afterDeletecollection('RequestResponse', { query: '?labelSelector=a', listed: pod })).toMatchObject({
      isNamed: true,
      trigger: 'namespace-deletion',
    }));

  it('is not the deletion of other pods', async () =>
    expect(await afterDeletecollection('RequestResponse', { listed: 'another' })).toMatchObject({
      isNamed: false,
      trigger: 'unknown',
      cannotTell: expect.stringContaining('who deleted it: no request that is known to have deleted it') as string,
    }));

  it('without a selector is the deletion of all pods, whatever the level of the log', async () =>
    expect(await afterDeletecollection('Metadata', {})).toMatchObject({
      isNamed: true,
      trigger: 'namespace-deletion',
    }));

  it('with a selector, and without a response, may have been about other pods', async () =>
    expect(await afterDeletecollection('Metadata', { query: '?labelSelector=a' })).toMatchObject({
      isNamed: false,
      trigger: 'unknown',
    }));
});

it.each([
  ['generic-garbage-collector', 'owner-deleted'],
  ['job-controller', 'job'],
  ['pod-garbage-collector', 'pod-gc'],
  // A rollout, or a smaller scale.
  ['replicaset-controller', 'unknown'],
  ['constructor', 'unknown'],
])('a deletion by the controller %s has the trigger %s', async (name, trigger) => {
  const { events, pod, namespace } = logOf('Metadata');
  const by = events.map((event) => (isDelete(event) ? { ...event, user: { username: controller(name) } } : event));
  expect(await whyFromLines(by, pod, namespace)).toMatchObject({ trigger, deletedBy: { user: controller(name) } });
});

describe('two pods of one name, without objects in the log', () => {
  const { events: first, pod, namespace } = logOf('Metadata');
  const second = first.map((event) =>
    shiftedBy(600_000, isDelete(event) ? { ...event, user: { username: 'bob' } } : event),
  );
  const [begin] = second;
  const binding = {
    ...(begin as Line),
    verb: 'create',
    user: { username: 'system:kube-scheduler' },
    objectRef: { resource: 'pods', subresource: 'binding', ...{ namespace }, name: pod },
  };
  const deleters = async (events: readonly Line[]) => {
    const { deletedBy, moments } = await whyFromLines(events, pod, namespace);
    return [deletedBy?.user, moments.filter(({ name }) => name === 'accepted').length];
  };

  it('the one that was deleted last is explained, by its own request', async () =>
    expect(await deleters([...first, binding, ...second])).toEqual(['bob', 1]));

  it('a pod that still runs does not hide its predecessor', async () =>
    expect(await deleters([...first, binding])).toEqual(['kubernetes-admin', 1]));

  it('neither does a pod that is created and not yet bound', async () => {
    const creation = { ...shiftedBy(-20, binding), objectRef: { resource: 'pods', ...{ namespace }, name: pod } };
    const status = {
      ...shiftedBy(-10, binding),
      objectRef: { ...binding.objectRef, subresource: 'status' },
      responseObject: { kind: 'Pod', metadata: { name: pod, namespace, uid: 'successor' } },
    };
    expect(await whyFromLines([...first, creation, status, binding], pod, namespace)).toMatchObject({
      pod: { namespace, name: pod },
      summary: 'how it exited is not known: the audit log contains no objects at its level',
    });
  });
});

describe('a request at another time than the deletion', () => {
  const { events, pod, namespace } = logOf('RequestResponse');
  const request = events.find(isDelete) as Line;
  /** A request by another client that the log does not show the result of. */
  const byBob = (ms: number): Line => ({
    ...shiftedBy(ms, request),
    user: { username: 'bob' },
    responseObject: undefined,
  });

  it('is not the deletion if it only repeated one that the log lacks', async () => {
    const report = await whyFromLines([...events.filter((event) => !isDelete(event)), byBob(2_500)], pod, namespace);
    expect(report.deletedBy).toBeUndefined();
    expect(report.cannotTell.join('\n')).toContain('who deleted it: no request that is known to have deleted it');
  });

  it('is not the deletion if it was about an earlier pod of this name', async () =>
    expect(await whyFromLines([byBob(-600_000), ...events], pod, namespace)).toMatchObject({
      deletedBy: { user: 'kubernetes-admin' },
    }));
});

it('an eviction is the trigger, even if no object shows it', async () => {
  const { events, pod, namespace } = logOf('Metadata');
  const evicted = events.map((event) =>
    isDelete(event) ? { ...event, verb: 'create', objectRef: { ...event.objectRef, subresource: 'eviction' } } : event,
  );
  expect(await whyFromLines(evicted, pod, namespace)).toMatchObject({
    trigger: 'eviction-api',
    deletedBy: { verb: 'evict' },
  });
});

describe('a log that does not show all of a deletion', () => {
  const { events, pod, namespace } = logOf('RequestResponse');
  const early = shiftedBy(-60_000, events.find(({ objectRef }) => objectRef.resource === 'pods') as Line);
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...metadata } = podOf(early).metadata;
  const running = { ...early, verb: 'patch', user: { username: 'system:node:node1' } };
  const alive = {
    ...running,
    objectRef: { ...early.objectRef, subresource: 'status' },
    responseObject: { ...podOf(early), metadata },
  };
  const final = events.filter(({ objectRef, verb }) => objectRef.resource === 'pods' && verb === 'delete').slice(-1);

  const eviction = {
    ...early,
    verb: 'create',
    objectRef: { ...early.objectRef, subresource: 'eviction' },
    responseObject: undefined,
    requestReceivedTimestamp: events.find(isDelete)?.requestReceivedTimestamp ?? '',
    stageTimestamp: events.find(isDelete)?.stageTimestamp ?? '',
  };

  it('its end alone does not show that nothing was running', async () =>
    expect(await whyFromLines(final, pod, namespace)).toMatchObject({ outcome: 'unknown' }));

  it('its end alone does not show how long it took', async () => {
    const { exit } = await whyFromLines(final, pod, namespace);
    expect(exit?.totalSeconds).toBeUndefined();
    expect((await whyFrom(logFrom(final), pod, namespace, [])).stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /gone after ≤\d/,
    );
  });

  it('neither do its end and a state long before', async () =>
    expect(await whyFromLines([alive, ...final], pod, namespace)).toMatchObject({ outcome: 'unknown' }));

  it('without the request, what the kubelet sends does not show whether it has begun to stop the pod', async () => {
    const sent = logOf('Request of the kubelet').events;
    const instants = async (lines: readonly Line[]) => {
      const { exit } = await whyFromLines([alive, ...lines], pod, namespace);
      return new Map(exit?.marks.map(({ id, at }) => [id, at]));
    };
    const known = await instants(sent);
    for (const [id, at] of await instants(sent.filter((event) => !isDelete(event)))) {
      const { earliest = '', latest = '' } = known.get(id) ?? {};
      expect([id, at.earliest <= latest, at.latest >= earliest]).toEqual([id, true, true]);
    }
  });

  it('a running pod is not reported as one that will not be deleted', async () => {
    const report = await whyFromLines([alive], pod, namespace);
    expect(report).toMatchObject({
      outcome: 'unknown',
      summary: 'how it exited is not known: the audit log contains no deletion of it',
    });
    expect(report.exit).toBeUndefined();
  });

  it('after an eviction without its object, the state is unknown until the next object', async () => {
    const report = await whyFromLines([alive, eviction, ...final], pod, namespace);
    expect(report).toMatchObject({ outcome: 'unknown', trigger: 'eviction-api' });
    expect(report.exit?.gaps.filter(({ resource }) => resource === 'pods')).toHaveLength(1);
  });
});

it('the order of the lines does not matter', async () => {
  const { events, pod, namespace } = logOf('RequestResponse');
  const known = ({ outcome, trigger, deletedBy, moments, exit }: AuditReport) => {
    const containers = exit?.containers.map((one) => [one.outcome, one.exit?.code]);
    return [outcome, trigger, deletedBy, moments, containers];
  };
  const [inOrder, reversed] = [
    await whyFromLines(events, pod, namespace),
    await whyFromLines(events.toReversed(), pod, namespace),
  ];
  expect(known(reversed)).toEqual(known(inOrder));
});

it('only a status that the kubelet wrote is reported as its own', async () => {
  const { events, pod, namespace } = logOf('Metadata');
  const [one] = events.filter(({ objectRef }) => objectRef.subresource === 'status');
  const disrupted = { ...(one as Line), user: { username: controller('node-controller') } };
  const { moments } = await whyFromLines([disrupted, ...events], pod, namespace);
  const writers = moments.flatMap(({ name, what, source }) => (name === 'status' ? [`${what}: ${source}`] : []));
  expect(writers).toContain('its status was changed: audit log, system:serviceaccount:kube-system:node-controller');
  expect(writers.filter((text) => /kubelet.*controller/.test(text))).toEqual([]);
});
