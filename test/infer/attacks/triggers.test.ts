/** What somebody did who wanted a false sentence in a report: each a recording with one thing changed. */
import { describe, expect, it } from 'vitest';
import { adding, attached, changed, editing, eventOf, judged, markedIn, recorded } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { ownersIn, podBefore } from '../../helpers/raw-edits.ts';

describe('a trigger that looks like one', () => {
  const disrupted = (pod: Raw, status: string, version: bigint): Raw => ({
    ...pod,
    metadata: { ...pod.metadata, resourceVersion: String(version) },
    status: {
      ...pod.status,
      conditions: [
        ...((pod.status['conditions'] ?? []) as unknown[]),
        { type: 'DisruptionTarget', status, reason: 'EvictionByEvictionAPI' },
      ],
    },
  });

  it('an eviction that came to nothing and was taken back did not delete the pod', async () => {
    const sightings = attached(await recorded('graceful-exit'));
    const pod = podBefore(sightings);
    const { at } = markedIn(sightings);
    const version = BigInt(String(pod.metadata['resourceVersion']));
    const older = editing(sightings, 'pod', (object, sighting) => {
      const own = object.metadata.uid === pod.metadata.uid;
      if (own && sighting.kind === 'listed')
        return { ...object, metadata: { ...object.metadata, resourceVersion: String(version - 3n) } };
      return own && object.metadata['deletionTimestamp'] !== undefined
        ? disrupted(object, 'False', BigInt(String(object.metadata['resourceVersion'])))
        : object;
    });
    const evicted = changed(at - 900, 'pod', disrupted(pod, 'True', version - 2n));
    const taken = changed(at - 500, 'pod', disrupted(pod, 'False', version - 1n));
    expect(judged(adding(older, evicted, taken)).trigger.kind).toBe('unknown');
    expect(judged(adding(older, evicted)).trigger.kind).toBe('unknown');
  });

  it('owners that left the pod behind, or went after it, did not take it with them', async () => {
    const sightings = attached(await recorded('graceful-exit'));
    const { at, object } = markedIn(sightings);
    const gone = (when: number) => ownersIn(sightings).map((owner) => changed(when, 'owner', owner, 'DELETED'));
    const orphan = editing(sightings, 'pod', (pod) => {
      if (pod.metadata.uid !== object.metadata.uid || pod.metadata['deletionTimestamp'] === undefined) return pod;
      const { ownerReferences: _, ...metadata } = pod.metadata;
      return { ...pod, metadata };
    });
    expect(judged(adding(sightings, ...gone(at - 800))).trigger.kind).toBe('owner-deleted');
    expect(judged(adding(orphan, ...gone(at - 800))).trigger.kind).toBe('unknown');
    expect(judged(adding(sightings, ...gone(at + 2000))).trigger.kind).toBe('unknown');
  });

  it('a rollout is a rollout also where the Deployment was scaled down a second before', async () => {
    const sightings = await recorded('rolling-update');
    const { at } = markedIn(sightings);
    const deployment = ownersIn(sightings).find((owner) => owner['kind'] === 'Deployment' || owner.spec['strategy']);
    const replicas = Number(deployment?.spec['replicas']);
    const more = editing(sightings, 'owner', (owner, sighting) =>
      sighting.kind === 'listed' && owner.metadata.uid === deployment?.metadata.uid
        ? { ...owner, spec: { ...owner.spec, replicas: replicas + 1 } }
        : owner,
    );
    expect(judged(adding(more, changed(at - 900, 'owner', deployment))).trigger.kind).toBe('rollout');
  });

  it('a ReplicaSet whose Deployment cannot be seen gives no reason for scaling down', async () => {
    const sightings = await recorded('rolling-update');
    const unseen = editing(sightings, 'owner', (owner) => (owner.spec['strategy'] ? undefined : owner));
    const silent = editing(unseen, 'owner-events', (event) =>
      (event['involvedObject'] as { kind: string }).kind === 'Deployment' ? undefined : event,
    );
    const alone = editing(silent, 'siblings', () => undefined);
    expect(judged(alone).trigger.kind).toBe('unknown');
  });

  // From the tenth within ten minutes on a Deployment's Events are one, as those of any rollout of six pods.
  it.each([
    ['told by an Event of its own', '', 1],
    ['told by the newest of many alike', '(combined from similar events): ', 7],
  ])('scaled down to all that the Deployment wants, %s: no rollout', async (_, prefix, count) => {
    const sightings = attached(await recorded('graceful-exit'));
    const { at, object } = markedIn(sightings);
    const [set] = object.metadata['ownerReferences'] as { name: string; uid: string }[];
    const fewer = editing(sightings, 'owner', (owner) => ({ ...owner, spec: { ...owner.spec, replicas: 1 } }));
    const about = { kind: 'ReplicaSet', name: set?.name ?? '', uid: set?.uid ?? '' };
    const deleted = eventOf(
      about,
      {
        reason: 'SuccessfulDelete',
        message: `Deleted pod: ${object.metadata.name}`,
        component: 'replicaset-controller',
      },
      { at },
    );
    const message = `${prefix}Scaled down replica set ${set?.name} from 2 to 1`;
    const scaled = eventOf(
      { kind: 'Deployment', name: 'checkout' },
      { reason: 'ScalingReplicaSet', message, component: 'deployment-controller' },
      { at: at - 1, count },
    );
    const told = adding(fewer, changed(at + 8, 'owner-events', deleted, 'ADDED'));
    expect(judged(told).trigger.kind).toBe('unknown');
    expect(judged(adding(told, changed(at + 9, 'owner-events', scaled, 'ADDED'))).trigger.kind).toBe('scale-down');
  });

  it('a ReplicaSet that was scaled up before many Events became one may not be the newest: no rollout', async () => {
    const sightings = attached(await recorded('graceful-exit'));
    const { at, object } = markedIn(sightings);
    const [set] = object.metadata['ownerReferences'] as { name: string; uid: string }[];
    const scaling = (message: string, when: number, count = 1): Raw =>
      eventOf(
        { kind: 'Deployment', name: 'checkout' },
        { reason: 'ScalingReplicaSet', message, component: 'deployment-controller' },
        { at: when, count },
      );
    const listing = (...objects: Raw[]) =>
      sightings.map((one) => (one.kind === 'listed' && one.stream === 'owner-events' ? { ...one, objects } : one));
    const about = { kind: 'ReplicaSet', name: set?.name ?? '', uid: set?.uid ?? '' };
    const reason = 'SuccessfulDelete';
    const message = `Deleted pod: ${object.metadata.name}`;
    const deleted = eventOf(about, { reason, message, component: 'replicaset-controller' }, { at });
    const older = scaling('Scaled up replica set checkout-older from 0 to 2', at - 300_000);
    const merged = '(combined from similar events): Scaled down replica set checkout-older from 1 to 0';
    const told = (...events: Raw[]) =>
      judged(adding(listing(...events), changed(at + 8, 'owner-events', deleted, 'ADDED'))).trigger.kind;
    expect(told(older)).toBe('rollout');
    expect(told(older, scaling(merged, at - 200_000, 4))).toBe('unknown');
    expect(told(older, scaling(merged, at - 400_000, 4))).toBe('rollout');
  });
});
