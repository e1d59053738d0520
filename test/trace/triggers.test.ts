/** What deleted the pod, for every row of SIGNALS.md §4 and what may pass for it. */
import { describe, expect, it } from 'vitest';
import type { Story } from '../../src/loopback/kubelet/story.ts';
import type { Sighting } from '../../src/trace/observation.ts';
import type { TriggerKind } from '../../src/trace/report.ts';
import {
  adding,
  attached,
  changed,
  changesOf,
  editing,
  eventOf,
  judged,
  listed,
  markedIn,
  ownedBy,
  ownerOf,
  recorded,
  stampOf,
  storyReport,
  told,
} from '../helpers/cases.ts';
import type { Raw } from '../helpers/cases.ts';

const somebody = { kind: 'unknown', atMs: 1240, graceSeconds: null } as const;
const deployment: Story['owner'] = { kind: 'deployment', name: 'api', replicas: 2, readyAfterMs: 300 };
const deployed = {
  owner: deployment,
  pod: { name: 'api-5d4f-x2', graceSeconds: 10, state: 'running', finalizers: [] },
};

/** The kind, and below it what its evidence says. */
function lineOf(sightings: readonly Sighting[]): string {
  const report = judged(sightings);
  return [report.trigger.kind, ...linesOf(report)].join('\n');
}

const linesOf = ({ trigger, observations }: ReturnType<typeof judged>): string[] =>
  observations.filter(({ seq }) => trigger.evidence.includes(seq)).map(({ what }) => what);

/** A pod of this owner that some client deletes, with the owner known before. */
function ownedCase(kind: string, name: string, owner: Partial<Raw> = {}, change: Partial<Story> = {}) {
  const sightings = editing(told({ trigger: somebody, ...change }), 'pod', ownedBy(kind, name));
  const begin = sightings[0]?.at ?? 0;
  const at = markedIn(sightings).at;
  return { at, sightings: adding(sightings, listed(begin + 100, 'owner', ownerOf(kind, name, owner))) };
}

const successfulDelete = (kind: string, name: string, component: string, message: string, at: number, times = {}) =>
  eventOf({ kind, name, uid: `uid-${name}` }, { reason: 'SuccessfulDelete', message, component }, { at, ...times });

describe('the trigger is told where evidence tells it', () => {
  const stories: Record<string, [TriggerKind, Partial<Story>, RegExp]> = {
    'a NoExecute taint': ['taint', { trigger: { kind: 'taint', atMs: 1240 } }, /Event TaintManagerEviction/],
    'a device taint': [
      'device-taint',
      { trigger: { kind: 'device-taint', atMs: 1240 } },
      /DisruptionTarget: DeletionByDeviceTaintManager[^]*Event DeviceTaintManagerEviction/,
    ],
    'PodGC, as the node is gone': ['pod-gc', { trigger: { kind: 'pod-gc', atMs: 1240 } }, /DeletionByPodGC/],
    'a preemption': ['preemption', { trigger: { kind: 'preemption', atMs: 1240 } }, /PreemptionByScheduler/],
    'a rollout': ['rollout', { ...deployed, trigger: { kind: 'rollout', atMs: 1240 } } as Partial<Story>, /Scaling/],
    'a scale-down': [
      'scale-down',
      { ...deployed, trigger: { kind: 'scale-down', atMs: 1240 } } as Partial<Story>,
      /scaled/,
    ],
    'an owner that was deleted': [
      'owner-deleted',
      { ...deployed, trigger: { kind: 'owner-deleted', atMs: 1240 } } as Partial<Story>,
      /deleted/,
    ],
    'a Job that is suspended': [
      'job',
      { owner: { kind: 'job', name: 'report' }, trigger: { kind: 'job', atMs: 1240 } },
      /Event SuccessfulDelete/,
    ],
    'nobody that left evidence': ['unknown', { trigger: somebody }, /deletionTimestamp/],
  };
  it.each(Object.entries(stories))('%s', (_title, [kind, story, evidence]) => {
    const report = storyReport(story);
    expect(report.trigger.kind).toBe(kind);
    expect(linesOf(report).join('\n')).toMatch(evidence);
  });

  it('PodGC without a condition: Failed and grace 0 over containers that nobody stopped', () => {
    const forced = told({ trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 0 } });
    const failed = editing(forced, 'pod', (pod) =>
      pod.metadata['deletionTimestamp'] === undefined ? pod : { ...pod, status: { ...pod.status, phase: 'Failed' } },
    );
    expect(judged(failed).trigger.kind).toBe('pod-gc');
    expect(judged(forced).trigger.kind).toBe('unknown');
  });

  it('a drain: an eviction on a node that takes no new pods, which is part of the evidence', async () => {
    const sightings = attached(await recorded('evicted'));
    const cordoned = changesOf(sightings, 'node').at(0)?.object ?? nodeIn(sightings);
    const node = { ...cordoned, spec: { ...cordoned.spec, unschedulable: true } };
    const begin = sightings[0]?.at ?? 0;
    const drained = judged(adding(sightings, listed(begin + 60, 'node', node), changed(begin + 90, 'node', node)));
    expect(drained.trigger.kind).toBe('eviction-api');
    expect(linesOf(drained).join('\n')).toMatch(/node \S+ .*unschedulable/);
    expect(linesOf(judged(sightings)).join('\n')).not.toMatch(/unschedulable/);
  });
});

describe('a StatefulSet and a DaemonSet', () => {
  const setEvent = (at: number, times = {}) =>
    successfulDelete(
      'StatefulSet',
      'api',
      'statefulset-controller',
      'delete Pod api-0 in StatefulSet api successful',
      at,
      times,
    );

  it('rolls out: its controller says that it deleted the pod, and its replicas stay', () => {
    const { at, sightings } = ownedCase('StatefulSet', 'api', { spec: { replicas: 3 } });
    expect(judged(adding(sightings, changed(at + 12, 'owner-events', setEvent(at), 'ADDED'))).trigger.kind).toBe(
      'rollout',
    );
  });

  it('scales down: its replicas went down before', () => {
    const { at, sightings } = ownedCase('StatefulSet', 'api', { spec: { replicas: 3 } });
    const fewer = ownerOf('StatefulSet', 'api', { spec: { replicas: 2 } });
    const scaled = adding(
      sightings,
      changed(at - 8, 'owner', fewer),
      changed(at + 12, 'owner-events', setEvent(at), 'ADDED'),
    );
    expect(judged(scaled).trigger.kind).toBe('scale-down');
  });

  it('an Event of the last rollout, about an older pod of the same name, is no cause', () => {
    const { at, sightings } = ownedCase('StatefulSet', 'api', { spec: { replicas: 3 } });
    const begin = sightings[0]?.at ?? 0;
    const old = adding(sightings, listed(begin + 50, 'owner-events', setEvent(at - 1_800_000)));
    expect(judged(old).trigger.kind).toBe('unknown');
    const again = setEvent(at, { count: 2, firstAt: at - 1_800_000 });
    expect(judged(adding(old, changed(at + 12, 'owner-events', again))).trigger.kind).toBe('rollout');
  });

  it('a run that comes late finds the Event in its list, and believes it', () => {
    const { at, sightings } = ownedCase('StatefulSet', 'api', { spec: { replicas: 3 } });
    const late = attached(sightings).filter((one) => one.kind === 'began' || one.at >= at);
    const owner = ownerOf('StatefulSet', 'api', { spec: { replicas: 3 } });
    const found = (...events: Raw[]) =>
      judged(adding(late, listed(at + 40, 'owner', owner), listed(at + 40, 'owner-events', ...events)));
    expect(found(setEvent(at)).trigger.kind).toBe('rollout');
    expect(found(setEvent(at - 1_800_000)).trigger.kind).toBe('unknown');
  });

  const daemonEvent = (at: number) =>
    successfulDelete('DaemonSet', 'agent', 'daemonset-controller', 'Deleted pod: api-0', at);

  it('a DaemonSet rolls out where another revision follows; that it still wants as many pods is not enough', () => {
    const { at, sightings } = ownedCase('DaemonSet', 'agent', { status: { desiredNumberScheduled: 4 } });
    const of = (hash: string) => (pod: Raw) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { 'controller-revision-hash': hash } },
    });
    const deleted = adding(
      editing(sightings, 'pod', of('a')),
      changed(at + 12, 'owner-events', daemonEvent(at), 'ADDED'),
    );
    expect(judged(deleted).trigger.kind).toBe('unknown');
    const { object } = markedIn(sightings);
    const { deletionTimestamp: _, ...metadata } = object.metadata;
    const next = { ...metadata, name: 'agent-2', uid: 'agent-2', creationTimestamp: stampOf(at + 2000) };
    const successor = (hash: string) =>
      changed(at + 2050, 'siblings', of(hash)({ ...object, metadata: next }), 'ADDED');
    expect(judged(adding(deleted, successor('a'))).trigger.kind).toBe('unknown');
    expect(judged(adding(deleted, successor('b'))).trigger.kind).toBe('rollout');
  });

  it('a DaemonSet scales down: it wants a pod on fewer nodes than before', () => {
    const { at, sightings } = ownedCase('DaemonSet', 'agent', { status: { desiredNumberScheduled: 4 } });
    const fewer = ownerOf('DaemonSet', 'agent', { status: { desiredNumberScheduled: 3 } });
    const scaled = adding(
      sightings,
      changed(at + 12, 'owner-events', daemonEvent(at), 'ADDED'),
      changed(at + 20, 'owner', fewer),
    );
    expect(judged(scaled).trigger.kind).toBe('scale-down');
  });
});

describe('a Job', () => {
  const condition = (type: string) => ({ conditions: [{ type, status: 'True' }] });
  const finished: Partial<Story> = {
    pod: { name: 'api-0', graceSeconds: 10, state: 'finished', finalizers: [] },
  };

  it.each(['Suspended', 'Failed', 'FailureTarget', 'SuccessCriteriaMet', 'Complete'])(
    'ends its work (%s): what still runs of it is deleted',
    (type) => {
      const { at, sightings } = ownedCase('Job', 'report', { spec: { completions: 1 } });
      const ended = ownerOf('Job', 'report', { status: condition(type) });
      const line = lineOf(adding(sightings, changed(at - 5, 'owner', ended)));
      expect(line).toMatch(/^job\n/);
      expect(line).toMatch(/Job report/);
    },
  );

  it('is suspended by its spec, and no Event came through', () => {
    const { at, sightings } = ownedCase('Job', 'report');
    const line = lineOf(
      adding(sightings, changed(at - 5, 'owner', ownerOf('Job', 'report', { spec: { suspend: true } }))),
    );
    expect(line).toMatch(/^job\n[^]*Job report suspended/);
  });

  it('outlives its time to live: its finished pod goes with it', () => {
    const spec = { ttlSecondsAfterFinished: 60 };
    const { at, sightings } = ownedCase('Job', 'report', { spec, status: condition('Complete') }, finished);
    const metadata = { ...ownerOf('Job', 'report').metadata, deletionTimestamp: stampOf(at) };
    const going = ownerOf('Job', 'report', { spec, status: condition('Complete'), metadata });
    expect(judged(adding(sightings, changed(at - 5, 'owner', going))).trigger.kind).toBe('job');
  });

  it('is deleted by somebody: then an owner was', () => {
    const { at, sightings } = ownedCase('Job', 'report', { status: condition('Complete') }, finished);
    const gone = changed(at - 5, 'owner', ownerOf('Job', 'report'), 'DELETED');
    expect(judged(adding(sightings, gone)).trigger.kind).toBe('owner-deleted');
  });

  it('that ended long ago does not delete its finished pod: some client did', () => {
    const { sightings } = ownedCase('Job', 'report', { status: condition('Complete') }, finished);
    expect(judged(sightings).trigger.kind).toBe('unknown');
  });
});

describe('a namespace that is being deleted', () => {
  const namespace = (deletedAt: number): Raw => ({
    kind: 'Namespace',
    metadata: { name: 'story', uid: 'uid-story', deletionTimestamp: stampOf(deletedAt) },
    spec: {},
    status: { phase: 'Terminating' },
  });

  it('is the trigger, and not the owners that go with it', () => {
    const { at, sightings } = ownedCase('StatefulSet', 'api');
    const all = adding(
      sightings,
      changed(at - 5, 'owner', ownerOf('StatefulSet', 'api'), 'DELETED'),
      listed(at + 20, 'namespace', namespace(at - 1000)),
    );
    expect(judged(all).trigger.kind).toBe('namespace-deletion');
  });

  it('is not the trigger where it came after the pod', () => {
    const sightings = told({ trigger: somebody });
    const { at } = markedIn(sightings);
    expect(judged(adding(sightings, listed(at + 3000, 'namespace', namespace(at + 2500)))).trigger.kind).toBe(
      'unknown',
    );
  });

  it('brings no Events: the kubelet is seen by its statuses alone', () => {
    const report = storyReport({ trigger: { kind: 'namespace-deletion', atMs: 1240 } });
    expect(report.marks.some(({ name }) => name === 'stopping')).toBe(false);
    expect(report.marks.some(({ name }) => name === 'acknowledged')).toBe(true);
    expect(report.verdict.outcome).toBe('graceful');
    expect(report.verdict.findings.map(({ code }) => code)).not.toContain('node-silent');
  });
});

it('our own request is the trigger, whatever happened around it', () => {
  const sightings = told({ owner: { kind: 'job', name: 'report' } });
  const { at } = markedIn(sightings);
  const gone = changed(at - 2, 'owner', ownerOf('Deployment', 'api'), 'DELETED');
  expect(judged(adding(sightings, gone)).trigger.kind).toBe('this-command');
});

function nodeIn(sightings: readonly Sighting[]): Raw {
  const found = sightings.flatMap((one) => (one.kind === 'listed' && one.stream === 'node' ? one.objects : []))[0];
  if (!found) throw new Error('no node was listed');
  return found as Raw;
}
