/** Which pod replaces the deleted one, step by step, and which pods podexit could take for it by mistake. */
import type { RawObservation } from '../../src/model/observation.ts';
import { observe } from '../../src/model/observe.ts';
import { reduce } from '../../src/model/reduce.ts';
import type { Instant } from '../../src/model/report.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { factsAwaitedUntil } from '../../src/run/ending/trace-end.ts';
import { missingReplacementText } from '../../src/run/group/finish.ts';
import {
  adding,
  alone,
  attached,
  changed,
  changesOf,
  editing,
  eventOf,
  judged,
  listed,
  markedIn,
  markOf,
  recorded,
  stampOf,
  storyObservations,
  without,
  type Raw,
} from '../helpers/cases.ts';
import { ownedCase, successfulDelete } from '../helpers/owned.ts';
import { podBefore } from '../helpers/raw-edits.ts';
import { observationsOf, traceOf } from '../helpers/recordings.ts';
import { drains } from '../sim/plain-story.ts';
import { describe, expect, it } from 'vitest';

type Status = { name: string; state: { running?: { startedAt: string } } };

const graceful = await recorded('graceful-exit');
const known = judged(graceful).replacement;

/** `edit` changes every state of the replacement. */
const withReplacement = (edit: (pod: Raw, statuses: Status[]) => void) =>
  judged(
    editing(graceful, 'siblings', (pod) => {
      if (pod.metadata.uid === known?.uid) edit(pod, (pod.status['containerStatuses'] ?? []) as Status[]);
      return pod;
    }),
  );

const widthOf = (instant: Instant | undefined): number =>
  instant ? Date.parse(instant.latest) - Date.parse(instant.earliest) : NaN;

describe('a replacement', () => {
  it('is reported step by step, and its times are those of the marks', () => {
    const report = judged(graceful);
    const steps = [known?.createdAt, known?.scheduledAt, known?.startedAt, known?.readyAt];
    const latest = steps.map((step) => Date.parse(step?.latest ?? ''));
    expect(latest).toEqual([...latest].sort((a, b) => a - b));
    expect(markOf(report, `replacement-scheduled/${known?.name}`).at).toEqual(known?.scheduledAt);
    expect(markOf(report, `replacement-started/${known?.name}`).at).toEqual(known?.startedAt);
    expect(steps.every((step) => step?.evidence.length)).toBe(true);
  });

  it('has the name of its predecessor in a StatefulSet, but another uid', async () => {
    const { pod, replacement } = judged(await recorded('statefulset'));
    expect(replacement?.name).toBe(pod.name);
    expect(replacement?.uid).not.toBe(pod.uid);
    expect(replacement?.scheduledAt).toBeDefined();
  });

  it('is dated by the node’s clock if it runs on the same node', () => {
    expect(widthOf(known?.startedAt)).toBeLessThan(200);
  });

  it('is not dated by the clock of another node, which is unknown', () => {
    const elsewhere = withReplacement((pod, statuses) => {
      pod.spec['nodeName'] = 'another';
      for (const { state } of statuses)
        if (state.running) state.running.startedAt = stampOf(Date.parse(state.running.startedAt) + 3_600_000);
    }).replacement;
    expect(elsewhere?.startedAt?.latest).toBe(known?.startedAt?.latest);
    expect(elsewhere?.startedAt?.earliest).toBe(elsewhere?.scheduledAt?.earliest);
  });

  it('has not started while one of its containers waits', () => {
    const waiting = withReplacement((pod, statuses) => {
      pod.spec['containers'] = [...(pod.spec['containers'] as object[]), { name: 'slow' }];
      statuses.push({ name: 'slow', state: {} });
    }).replacement;
    expect(waiting?.scheduledAt).toBeDefined();
    expect(waiting?.startedAt).toBeUndefined();
  });
});

it('a sibling that was created in the second of the deletion hides whether a later pod is the replacement', async () => {
  const rawObservations = await recorded('graceful-exit');
  const { at, object: own } = markedIn(rawObservations);
  const { deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } = own.metadata;
  const deleted = Date.parse(String(deletionTimestamp)) - Number(deletionGracePeriodSeconds) * 1000;
  const ready = changesOf(rawObservations, 'siblings').findLast(
    ({ object }) => object.metadata.uid !== own.metadata.uid,
  );
  const version = String(BigInt(String(resourceVersion)) + 1000n);
  const created = (ms: number, name: string) => {
    const metadata = { name, uid: name, creationTimestamp: stampOf(deleted + ms), resourceVersion: version };
    return { ...ready?.object, metadata: { ...ready?.object.metadata, ...metadata } };
  };
  const comes = changed(at + 2600, 'siblings', created(2000, 'checkout-later'), 'ADDED');
  const alone = adding(without(rawObservations, 'siblings'), comes);
  expect(judged(alone).replacement?.name).toBe('checkout-later');
  expect(judged(adding(alone, listed(at + 2500, 'siblings', created(0, 'checkout-same')))).replacement).toBeUndefined();
});

it('an older sibling is the replacement only in a rollout', async () => {
  const rawObservations = attached(await recorded('graceful-exit'));
  const { at, object } = markedIn(rawObservations);
  const { deletionTimestamp: _, ...metadata } = podBefore(rawObservations).metadata;
  const sibling = {
    ...object,
    metadata: {
      ...metadata,
      name: 'checkout-754699c75f-aaaaa',
      uid: 'older',
      resourceVersion: String(BigInt(String(metadata['resourceVersion'])) - 5n),
      creationTimestamp: stampOf(at - 2000),
    },
  };
  const report = judged(adding(rawObservations, changed(at - 1000, 'siblings', sibling, 'ADDED')));
  expect(report.replacement?.name).toBe(judged(rawObservations).replacement?.name);
  expect(judged(await recorded('rolling-update')).replacement).toBeDefined();
});

describe('a pod of another name or namespace on the pod’s stream', () => {
  it.each([{ name: 'somebody-else' }, { namespace: 'elsewhere' }])(
    '%j is neither the pod nor its successor',
    async (other) => {
      const rawObservations = await recorded('graceful-exit');
      const { object, at } = markedIn(rawObservations);
      const metadata = { ...object.metadata, ...other, uid: 'uid-of-somebody-else' };
      const foreign = { ...object, metadata };
      const misleading = adding(
        rawObservations,
        changed(at + 500, 'pod', foreign, 'ADDED'),
        changed(at + 600, 'pod', foreign, 'DELETED'),
      );
      const [report, plain] = [judged(misleading), judged(rawObservations)];
      expect(report.replacement).toEqual(
        plain.replacement === undefined ? undefined : expect.objectContaining({ uid: plain.replacement.uid }),
      );
      const removed = ({ marks }: typeof report) => marks.find(({ name }) => name === 'removed')?.at.latest;
      expect(removed(report)).toBe(removed(plain));
    },
  );
});

describe('a list of thousands of siblings', () => {
  /**
   * CPU time of the list (ms), the best of some tries: on a busy machine, wall-clock time would measure other
   * processes.
   */
  const timeOf = (count: number): number => {
    const pod = { kind: 'Pod', spec: { containers: [] }, status: {} };
    const objects = Array.from({ length: count }, (_, n) => ({
      ...pod,
      metadata: { name: `web-${n}`, uid: `uid-${n}` },
    }));
    const list: RawObservation = { at: 0, kind: 'listed', stream: 'siblings', resourceVersion: '1', objects };
    const observation = observe(list, 1, { logText: false });
    const tries = Array.from({ length: 7 }, () => {
      const began = process.cpuUsage();
      expect(reduce(emptyTrace, observation).siblings.size).toBe(count);
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1000;
    });
    return Math.min(...tries);
  };

  it('takes time in proportion to its length, not to the square of it', () => {
    expect(timeOf(4000) / timeOf(500)).toBeLessThan(32);
  });
});

const rollout = await recorded('rolling-update');
const { at, object: own } = markedIn(rollout);
const surge = judged(rollout).replacement;

/** A pod like `one`, received `after` ms after the deletion, and written then. */
function another(one: Raw, name: string, after: number): RawObservation {
  const version = BigInt(String(own.metadata['resourceVersion'])) + BigInt(after);
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = one.metadata;
  const stamps = { creationTimestamp: stampOf(at + after), resourceVersion: String(version) };
  return changed(at + after, 'siblings', { ...one, metadata: { ...metadata, name, uid: name, ...stamps } }, 'ADDED');
}

const surged = changesOf(rollout, 'siblings').find(({ object }) => object.metadata.uid === surge?.uid)?.object as Raw;

describe('a pod of a rollout, attached to by name,', () => {
  it('is replaced by the surge pod if it is removed and no other pod follows', () => {
    expect(surge).toBeDefined();
    const gone = rollout.findIndex((one) => one.kind === 'changed' && one.stream === 'pod' && one.change === 'DELETED');
    expect(judged(rollout.slice(0, gone)).replacement).toBeUndefined();
  });

  it('is replaced by the pod created after its deletion, not by the surge pod', () => {
    expect(judged(adding(rollout, another(surged, 'later', 60))).replacement?.name).toBe('later');
  });

  it('has no known replacement if there are several surge pods', () => {
    expect(judged(adding(rollout, another(surged, 'second', -300))).replacement).toBeUndefined();
  });

  it('is never replaced by a pod of its own template that was scaled up earlier', () => {
    const scaledUp = another(own, 'of-the-old-template', -450);
    expect(judged(adding(rollout, scaledUp)).replacement?.uid).toBe(surge?.uid);
    const only = rollout.filter(
      (one) =>
        !(one.kind === 'changed' && one.stream === 'siblings' && (one.object as Raw).metadata.uid === surge?.uid),
    );
    expect(judged(adding(only, scaledUp)).replacement).toBeUndefined();
  });
});

describe('a pod that its ReplicaSet deletes', () => {
  const rawObservations = rollout.filter((one) => !('stream' in one && one.stream === 'owner'));
  const set = (own.metadata['ownerReferences'] as { name: string; uid: string }[])[0];
  const deleted = eventOf(
    { kind: 'ReplicaSet', name: set?.name ?? '', uid: set?.uid ?? '' },
    { reason: 'SuccessfulDelete', message: `Deleted pod: ${own.metadata.name}`, component: 'replicaset-controller' },
    { at },
  );
  const later = another(own, 'later', 1500);
  const without = rawObservations.filter(
    (one) => !('stream' in one && ['siblings', 'owner-events'].includes(one.stream)),
  );

  it('has no known replacement if nothing shows whether it is a rollout', () => {
    const known: RawObservation = {
      kind: 'listed',
      at: at - 900,
      stream: 'siblings',
      resourceVersion: '',
      objects: [own],
    };
    const withSibling = adding(without, known, later);
    expect(judged(withSibling)).toMatchObject({ trigger: { kind: 'unknown' }, replacement: { name: 'later' } });
    const report = judged(adding(withSibling, changed(at + 8, 'owner-events', deleted, 'ADDED')));
    expect(report.trigger.kind).toBe('unknown');
    expect(report.replacement).toBeUndefined();
  });
});

it('podexit waits for no replacement if the namespace is deleted with the pod', () => {
  const story = attached(storyObservations()).map((one) =>
    one.kind === 'began' ? { ...one, waitReplacement: true } : one,
  );
  const deleted = markedIn(story).at;
  const namespace = {
    kind: 'Namespace',
    metadata: { name: 'story', uid: 'story', deletionTimestamp: stampOf(deleted - 1000) },
    status: { phase: 'Terminating' },
  };
  const traceIn = (rawObservations: readonly RawObservation[]) => traceOf(observationsOf(rawObservations));
  expect(factsAwaitedUntil(traceIn(story))).toBeUndefined();
  expect(missingReplacementText(traceIn(story))).toBeUndefined();
  const over = traceIn(adding(story, listed(deleted + 20, 'namespace', namespace)));
  expect(factsAwaitedUntil(over)).toBeDefined();
  expect(missingReplacementText(over)).toMatch(/is gone, and nothing will replace it: its namespace was deleted$/);
});

describe('a new pod of the same owner', () => {
  /** While our pod drains, another pod is created and becomes ready. */
  function beside(kind: string, other: { name: string; node: string; index?: string }) {
    const { at, rawObservations } = ownedCase(kind, 'api', { spec: { replicas: 3 } }, alone({ app: drains(4000) }));
    const labelled = editing(rawObservations, 'pod', (one) => withIndex(one, '0'));
    const { object } = markedIn(labelled);
    const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = object.metadata;
    const sibling = (ready: boolean, later: bigint): Raw =>
      withIndex(
        {
          ...object,
          metadata: {
            ...metadata,
            name: other.name,
            uid: 'other',
            resourceVersion: String(BigInt(String(metadata['resourceVersion'])) + later),
            creationTimestamp: stampOf(at + 900),
          },
          // A DaemonSet's pod has no node before it is bound.
          spec: { ...object.spec, nodeName: ready ? other.node : undefined },
          status: { phase: 'Pending', conditions: ready ? [{ type: 'Ready', status: 'True' }] : [] },
        },
        other.index,
      );
    return adding(
      labelled.map((one) => (one.kind === 'began' ? { ...one, waitReplacement: true } : one)),
      listed(at - 500, 'siblings'),
      changed(at + 900, 'siblings', sibling(false, 3n), 'ADDED'),
      changed(at + 2500, 'siblings', sibling(true, 6n)),
    );
  }

  const withIndex = (one: Raw, index: string | undefined): Raw => ({
    ...one,
    metadata: {
      ...one.metadata,
      labels: index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': index },
    },
  });

  it.each([
    ['StatefulSet', { name: 'api-3', node: 'node1' }],
    ['DaemonSet', { name: 'api-zzzzz', node: 'node9' }],
    ['Job', { name: 'api-1-zzzzz', node: 'node1', index: '1' }],
  ])('of a %s in another slot is not the replacement, and podexit keeps waiting', (kind, other) => {
    const rawObservations = beside(kind, other);
    expect(judged(rawObservations).replacement).toBeUndefined();
    expect(factsAwaitedUntil(traceOf(observationsOf(rawObservations)))).toBeUndefined();
  });

  it('in the same slot is the replacement even if the controller deleted the pod for an unknown reason', () => {
    const rawObservations = beside('DaemonSet', { name: 'api-zzzzz', node: 'node1' });
    const { at, object } = markedIn(rawObservations);
    const message = `Deleted pod: ${object.metadata.name}`;
    const deleted = successfulDelete('DaemonSet', 'api', 'daemonset-controller', message, at);
    const report = judged(adding(rawObservations, changed(at + 8, 'owner-events', deleted, 'ADDED')));
    expect(report).toMatchObject({ trigger: { kind: 'unknown' }, replacement: { name: 'api-zzzzz' } });
  });

  it.each([
    ['DaemonSet', { name: 'api-zzzzz', node: 'node1' }],
    ['Job', { name: 'api-0-zzzzz', node: 'node9', index: '0' }],
    ['ReplicaSet', { name: 'api-zzzzz', node: 'node9' }],
  ])('of a %s in the same slot, or of an owner without slots, is the replacement', (kind, other) => {
    const rawObservations = beside(kind, other);
    expect(judged(rawObservations).replacement?.name).toBe(other.name);
    expect(factsAwaitedUntil(traceOf(observationsOf(rawObservations)))).toBeDefined();
  });
});

it('the gap before a new list of the pod dates a successor of the same name in that list', () => {
  const all = storyObservations({ owner: { kind: 'statefulset', name: 'api', readyAfterMs: 300 } });
  const own = changesOf(all, 'pod');
  const gone = own.find(({ change }) => change === 'DELETED');
  const done = own.find(({ object }) => object.status['phase'] === 'Succeeded');
  if (!gone || !done) throw new Error('the pod did not end');
  const { name, uid } = gone.object.metadata;
  const came = changesOf(all, 'siblings').filter(
    ({ object: { metadata } }) => metadata.name === name && metadata.uid !== uid,
  );
  const last = came.at(-1)?.object;
  const [from, to] = [done.at + 100, gone.at + 5000];
  const listedAgain = (stream: 'pod' | 'siblings', at: number): RawObservation[] => [
    { at, kind: 'gap', stream, from, to: at, cause: 'expired' },
    {
      at,
      kind: 'listed',
      stream,
      resourceVersion: '99999',
      objects: [last],
      ...(stream === 'pod' ? { name } : {}),
      sentAt: to - 5,
    },
  ];
  const isCut = (one: RawObservation): boolean =>
    one.kind === 'changed' && (one.stream === 'pod' || one.stream === 'siblings') && one.at > from;
  const cut = [...all.filter((one) => !isCut(one)), ...listedAgain('pod', to), ...listedAgain('siblings', to + 5)];
  const { replacement } = judged(cut.sort((a, b) => a.at - b.at));
  for (const instant of [replacement?.createdAt, replacement?.scheduledAt, replacement?.readyAt]) {
    expect(Date.parse(instant?.earliest ?? '')).toBeLessThanOrEqual(gone.at + 1);
    expect(Date.parse(instant?.latest ?? '')).toBeGreaterThanOrEqual(gone.at);
  }
});
