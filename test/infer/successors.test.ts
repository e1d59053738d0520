/** Cases that try to make podexit name an unrelated pod as the replacement. */
import { describe, expect, it } from 'vitest';
import { factsAwaitedUntil } from '../../src/run/ending/trace-end.ts';
import { missingReplacementText } from '../../src/run/group/finish.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { Raw } from '../helpers/cases.ts';
import {
  adding,
  attached,
  changed,
  changesOf,
  eventOf,
  judged,
  listed,
  markedIn,
  recorded,
  stampOf,
  storyObservations,
} from '../helpers/cases.ts';
import { observationsOf, traceOf } from '../helpers/recordings.ts';

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
