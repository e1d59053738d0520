/** A Deployment is scaled down while it rolls out, or while its rollout is stuck: what deleted the pod? */
import { describe, expect, it } from 'vitest';
import { plainStory } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import {
  adding,
  changed,
  changesOf,
  editing,
  eventOf,
  judged,
  markedIn,
  stampOf,
  storyObservations,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { linesOf } from '../../helpers/owned.ts';
import { podBefore } from '../../helpers/raw-edits.ts';

const owner: Story['owner'] = { kind: 'deployment', name: 'api', replicas: 3, readyAfterMs: 500 };
const scaled = storyObservations({ ...plainStory(), owner, trigger: { kind: 'scale-down', atMs: 1240 } });
const { at } = markedIn(scaled);
const begin = scaled[0]?.at ?? 0;
const loweredAt = changesOf(scaled, 'owner').find(({ object }) => object['kind'] === 'Deployment')?.at ?? NaN;

/** A pod of a newer template, created and perhaps ready at these client times. */
function newer(createdAt: number, readyAt?: number): Raw {
  const pod = structuredClone(podBefore(scaled));
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: stampOf(readyAt ?? 0) };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name: 'api-5d9f7c-newer',
      uid: 'uid-newer',
      resourceVersion: readyAt === undefined ? '7' : '8',
      creationTimestamp: stampOf(createdAt),
      labels: { ...(pod.metadata['labels'] as object), 'pod-template-hash': '5d9f7c' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'api-5d9f7c', uid: 'uid-5d9f7c', controller: true },
      ],
    },
    status: { phase: 'Pending', conditions: readyAt === undefined ? [] : [ready], containerStatuses: [] },
  };
}

const listing = (
  rawObservations: readonly RawObservation[],
  stream: 'siblings' | 'owner-events',
  object: Raw,
): RawObservation[] =>
  rawObservations.map((one) =>
    one.kind === 'listed' && one.stream === stream ? { ...one, objects: [...one.objects, object] } : one,
  );

const grown = (when: number): Raw =>
  eventOf(
    { kind: 'Deployment', name: 'api' },
    {
      reason: 'ScalingReplicaSet',
      message: 'Scaled up replica set api-5d9f7c from 0 to 1',
      component: 'deployment-controller',
    },
    { at: when },
  );

const kindOf = (rawObservations: readonly RawObservation[]) => judged(rawObservations).trigger.kind;

/** The Deployment keeps its number of replicas. */
const unscaled = (rawObservations: readonly RawObservation[]): RawObservation[] =>
  editing(rawObservations, 'owner', (object) =>
    object['kind'] === 'Deployment' ? { ...object, spec: { ...object.spec, replicas: 3 } } : object,
  );

describe('a Deployment that wants fewer replicas than before', () => {
  const stuck = listing(scaled, 'siblings', newer(begin - 100_000));

  it('scales down even if an older rollout is stuck', () => {
    expect(kindOf(scaled)).toBe('scale-down');
    expect(kindOf(stuck)).toBe('scale-down');
    expect(kindOf(listing(stuck, 'owner-events', grown(begin - 100_000)))).toBe('scale-down');
    expect(kindOf(listing(scaled, 'siblings', newer(begin - 900_000, begin - 800_000)))).toBe('scale-down');
  });

  it('rolls out if a pod of the newer template then becomes ready just before the deletion', () => {
    const ready = changed(at - 1, 'siblings', newer(begin - 100_000, at - 1));
    expect(loweredAt).toBeLessThanOrEqual(at - 1);
    expect(kindOf(adding(stuck, ready))).toBe('rollout');
  });

  it.each([
    [
      'became ready just before that',
      adding(stuck, changed(loweredAt - 200, 'siblings', newer(begin - 100_000, begin))),
    ],
    ['was ready a moment ago', listing(scaled, 'siblings', newer(begin - 60_000, begin - 3000))],
    ['was created a moment ago', listing(scaled, 'siblings', newer(begin - 3000))],
    ['was requested a moment ago', listing(stuck, 'owner-events', grown(begin - 3000))],
  ])('may scale down or roll out if a pod of the newer template %s: the evidence has both', (_, rawObservations) => {
    const report = judged(rawObservations);
    expect(report.trigger.kind).toBe('unknown');
    expect(linesOf(report)).toContain('Deployment api scaled to 2');
    expect(report.trigger.evidence.length).toBeGreaterThanOrEqual(4);
  });
});

it('a Deployment that wants as many replicas as before rolls out, however old its newer template is', () => {
  expect(kindOf(unscaled(listing(scaled, 'siblings', newer(begin - 100_000))))).toBe('rollout');
});

it('without access to the Deployment, a newer template that is old proves nothing', () => {
  const unseen = editing(scaled, 'owner', (object) => (object['kind'] === 'Deployment' ? undefined : object));
  expect(kindOf(listing(unseen, 'siblings', newer(begin - 100_000)))).toBe('unknown');
  expect(kindOf(listing(unseen, 'siblings', newer(begin - 3000)))).toBe('rollout');
});
