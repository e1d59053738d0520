/** What somebody did who wanted a false sentence in a report: each a recording with one thing changed. */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../src/trace/observation.ts';
import {
  adding,
  attached,
  changed,
  changesOf,
  containerOf,
  editing,
  eventOf,
  findingCodes,
  judged,
  markOf,
  markedIn,
  recorded,
  stampOf,
} from '../helpers/cases.ts';
import type { Raw } from '../helpers/cases.ts';

type Status = Record<string, unknown> & { state: Record<string, unknown> };

const statuses = (pod: Raw): Status[] => (pod.status['containerStatuses'] ?? []) as Status[];

/** The pod as it was listed before the deletion. */
function podBefore(sightings: readonly Sighting[]): Raw {
  const { uid } = markedIn(sightings).object.metadata;
  const pods = sightings.flatMap((one) => (one.kind === 'listed' && one.stream === 'pod' ? one.objects : [])) as Raw[];
  const found = pods.find((pod) => pod.metadata.uid === uid);
  if (!found) throw new Error('the pod was not listed');
  return structuredClone(found);
}

/** Owners as they were listed. */
const ownersIn = (sightings: readonly Sighting[]): Raw[] =>
  sightings.flatMap((one) => (one.kind === 'listed' && one.stream === 'owner' ? (one.objects as Raw[]) : []));

/** The listed pod had this older end, and ran again before the deletion. */
function crashedBefore(sightings: readonly Sighting[], end: Record<string, unknown>): Sighting[] {
  const pod = podBefore(sightings);
  const version = BigInt(String(pod.metadata['resourceVersion']));
  const { at } = markedIn(sightings);
  const crashed = editing(sightings, 'pod', (object, sighting) => {
    if (sighting.kind !== 'listed' || object.metadata.uid !== pod.metadata.uid) return object;
    for (const status of statuses(object)) Object.assign(status, { ready: false, state: { terminated: end } });
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version - 1n) } };
  });
  return adding(crashed, changed(at - 500, 'pod', pod));
}

describe('a crash before the deletion', () => {
  const end = (at: number) => ({
    exitCode: 1,
    reason: 'Error',
    startedAt: stampOf(at - 60_000),
    finishedAt: stampOf(at),
  });

  it('is not the end of a pod that ran again and was removed by force', async () => {
    const sightings = await recorded('force-delete');
    const report = judged(crashedBefore(sightings, end(markedIn(sightings).at - 5000)));
    expect(report.verdict.outcome).toBe('forced');
    expect(containerOf(report).outcome).toBe('abandoned');
  });

  it('is not the end of a pod that still runs when the run is left', async () => {
    const sightings = await recorded('graceful-exit');
    const { at } = markedIn(sightings);
    const left = crashedBefore(sightings, end(at - 30_000)).filter((one) => one.at < at + 1000);
    expect(containerOf(judged(left))).toMatchObject({ outcome: 'unknown' });
  });
});

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

  it('scaled down to all that the Deployment wants, without any other ReplicaSet: no rollout', async () => {
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
    const message = `Scaled down replica set ${set?.name} from 2 to 1`;
    const scaled = eventOf(
      { kind: 'Deployment', name: 'checkout' },
      { reason: 'ScalingReplicaSet', message, component: 'deployment-controller' },
      { at: at - 1 },
    );
    const told = adding(fewer, changed(at + 8, 'owner-events', deleted, 'ADDED'));
    expect(judged(told).trigger.kind).toBe('unknown');
    expect(judged(adding(told, changed(at + 9, 'owner-events', scaled, 'ADDED'))).trigger.kind).toBe('scale-down');
  });
});

/** Every Event of this reason becomes what `edit` makes of it. */
const editingEvents = (sightings: readonly Sighting[], reason: string, edit: (event: Raw) => Raw): Sighting[] =>
  editing(sightings, 'events', (event) => (event['reason'] === reason ? edit(event) : event));

/** An Event that happened at another time. */
function retimed(event: Raw, at: number): Raw {
  const name = `${event.metadata.name.split('.')[0]}.${(BigInt(at) * 1_000_000n).toString(16)}`;
  const stamp = stampOf(at);
  return {
    ...event,
    metadata: { ...event.metadata, name, creationTimestamp: stamp },
    firstTimestamp: stamp,
    lastTimestamp: stamp,
  };
}

/** Every end of a container that the pod's own statuses tell. */
function endingAs(sightings: readonly Sighting[], change: Record<string, unknown>): Sighting[] {
  const { uid } = markedIn(sightings).object.metadata;
  return editing(sightings, 'pod', (pod) => {
    if (pod.metadata.uid !== uid) return pod;
    for (const { state } of statuses(pod)) if (state['terminated']) Object.assign(state['terminated'], change);
    return pod;
  });
}

const quiet = (sightings: readonly Sighting[]): Sighting[] =>
  sightings.filter((one) => one.kind !== 'line' && one.kind !== 'log-opened' && one.kind !== 'log-ended');

describe('what the kubelet did', () => {
  it('a hook that fails after its container has ended died with it', async () => {
    const sightings = await recorded('prestop-fails');
    const { at } = markedIn(sightings);
    const ended = quiet(endingAs(sightings, { finishedAt: stampOf(at) }));
    const late = adding(
      ended.filter((one) => one.kind !== 'changed' || (one.object as Raw)['reason'] !== 'FailedPreStopHook'),
      ...changesOf(ended, 'events')
        .filter(({ object }) => object['reason'] === 'FailedPreStopHook')
        .map((one) => ({ ...one, at: at + 1203, object: retimed(one.object, at + 1200) })),
    );
    const report = judged(late);
    expect(containerOf(report).preStop?.outcome).toBe('unknown');
    expect(findingCodes(report)).not.toContain('prestop-failed');
    expect(findingCodes(judged(sightings))).toContain('prestop-failed');
  });

  it('a repeated Killing whose first time was not told begins at the first, and its signal stays open', async () => {
    const sightings = await recorded('exit-143');
    const alone = judged(sightings);
    const repeated = judged(editingEvents(sightings, 'Killing', (event) => ({ ...event, count: 2 })));
    const [first, known] = [markOf(repeated, 'stopping/app').at, markOf(alone, 'stopping/app').at];
    expect(first.earliest).toBe(known.earliest);
    expect(Date.parse(first.latest)).toBeLessThan(Date.parse(known.latest) + 50);
    const signal = containerOf(repeated).stopSignal;
    expect((signal?.earliest ?? '') <= known.earliest).toBe(true);
    expect((signal?.latest ?? '') >= (containerOf(alone).stopSignal?.latest ?? '')).toBe(true);
  });

  it('a container that had ended before the deletion was accepted was not running', async () => {
    const sightings = await recorded('graceful-exit');
    const { at } = markedIn(sightings);
    const dead = endingAs(sightings, { exitCode: 1, reason: 'Error', finishedAt: stampOf(at - 8000) });
    const silent = editing(quiet(dead), 'events', (event) => (event['reason'] === 'Killing' ? undefined : event));
    const report = judged(silent);
    expect(containerOf(report)).toEqual({ name: 'app', kind: 'container', outcome: 'not-running' });
    expect(report.verdict.outcome).toBe('removed');
  });

  it('a kill for a liveness probe that was under way may be the one that ended it', async () => {
    const sightings = await recorded('sigkill-after-grace');
    const { at } = markedIn(sightings);
    const probed = editingEvents(sightings, 'Killing', (event) =>
      retimed({ ...event, message: 'Container app failed liveness probe, will be restarted' }, at - 500),
    );
    const report = judged(probed);
    expect(containerOf(report).outcome).toBe('unknown');
    expect(findingCodes(report)).not.toContain('exit-nonzero');
    expect(findingCodes(report)).not.toContain('killed-at-grace');
  });

  it('an end by the stop signal that was set is one, whichever of the real-time signals it is', async () => {
    const sightings = endingAs(await recorded('exit-143'), { exitCode: 165 });
    const told = editing(sightings, 'pod', (pod) => {
      for (const status of statuses(pod)) status['stopSignal'] = 'SIGRTMIN+3';
      return pod;
    });
    expect(containerOf(judged(told))).toMatchObject({ outcome: 'signalled', stopSignal: { signal: 'SIGRTMIN+3' } });
    expect(containerOf(judged(sightings)).outcome).toBe('failed');
  });

  it('a debug container that was killed held the pod, and is no failure of the application', async () => {
    const sightings = editing(await recorded('multi-container'), 'pod', (pod) => {
      const containers = pod.spec['containers'] as { name: string }[];
      const isOld = (one: { name?: unknown; state?: unknown }) => one.name === 'legacy';
      pod.spec['ephemeralContainers'] = containers.filter(isOld);
      pod.spec['containers'] = containers.filter((one) => !isOld(one));
      pod.status['ephemeralContainerStatuses'] = statuses(pod).filter(isOld);
      pod.status['containerStatuses'] = statuses(pod).filter((one) => !isOld(one));
      return pod;
    });
    const report = judged(sightings);
    expect(report.verdict.outcome).toBe('graceful');
    expect(report.verdict.findings.find(({ code }) => code === 'sidecar-killed')?.message).toMatch(/debug container/);
    expect(findingCodes(report)).not.toContain('killed-at-grace');
    expect(findingCodes(report)).not.toContain('no-signal-handling');
  });
});

describe('routes and successors', () => {
  /** The slice's first change, and nothing of it from then on. */
  async function cutSlice() {
    const sightings = await recorded('graceful-exit');
    const { at, object } = markedIn(sightings);
    const [first] = changesOf(sightings, 'endpointslices');
    const before = sightings.filter(
      (one) => one.kind !== 'changed' || one.stream !== 'endpointslices' || one.at < at + 300,
    );
    if (!first) throw new Error('the slice did not change');
    return { at, uid: object.metadata.uid, slice: first.object, before };
  }

  it('an endpoint that left before the containers ended keeps its own time', async () => {
    const { at, uid, slice, before } = await cutSlice();
    const endpoints = (slice['endpoints'] as { targetRef?: { uid: string } }[]).filter(
      (one) => one.targetRef?.uid !== uid,
    );
    const report = judged(adding(before, changed(at + 300, 'endpointslices', { ...slice, endpoints })));
    expect(Date.parse(report.endpoints[0]?.removedAt?.latest ?? '')).toBeLessThan(at + 310);
  });

  it('a slice that was deleted tells nothing of endpoints', async () => {
    const { at, slice, before } = await cutSlice();
    const report = judged(adding(before, changed(at + 300, 'endpointslices', slice, 'DELETED')));
    expect(findingCodes(report)).not.toContain('no-ready-endpoint');
  });

  it('a Service that never had the pod is none of its business', async () => {
    const { at, slice, before } = await cutSlice();
    const other = (ready: boolean, version: string) => ({
      ...slice,
      metadata: {
        ...slice.metadata,
        name: 'external-db-1',
        uid: 'external-db-1',
        resourceVersion: version,
        labels: { 'kubernetes.io/service-name': 'external-db' },
        managedFields: [],
      },
      endpoints: [{ addresses: ['192.0.2.7'], conditions: { ready } }],
    });
    const sightings = adding(
      before,
      changed(at - 400, 'endpointslices', other(true, '1'), 'ADDED'),
      changed(at + 1500, 'endpointslices', other(false, '2')),
    );
    expect(
      judged(sightings)
        .verdict.findings.map(({ message }) => message)
        .join(),
    ).not.toContain('external-db');
  });

  it('a sibling that was there before the deletion takes over only in a rollout', async () => {
    const sightings = attached(await recorded('graceful-exit'));
    const { at, object } = markedIn(sightings);
    const { deletionTimestamp: _, ...metadata } = podBefore(sightings).metadata;
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
    const report = judged(adding(sightings, changed(at - 1000, 'siblings', sibling, 'ADDED')));
    expect(report.replacement?.name).toBe(judged(sightings).replacement?.name);
    expect(judged(await recorded('rolling-update')).replacement).toBeDefined();
  });
});

describe('findings only where they are proved', () => {
  it('a log that ended before the kill shows no silence', async () => {
    const sightings = await recorded('sigkill-after-grace');
    const { at } = markedIn(sightings);
    const cut = sightings.map((one) => (one.kind === 'log-ended' ? { ...one, at: at + 1000 } : one));
    expect(findingCodes(judged(cut.sort((a, b) => a.at - b.at)))).not.toContain('no-signal-handling');
  });

  it('a grace that was lowered after the kill was not ignored by it', async () => {
    const sightings = await recorded('sigkill-after-grace');
    const ended = changesOf(sightings, 'pod').find(({ object }) =>
      statuses(object).some(({ state }) => state['terminated']),
    );
    if (!ended) throw new Error('no end was told');
    const lowered: Raw = {
      ...ended.object,
      metadata: {
        ...ended.object.metadata,
        deletionGracePeriodSeconds: 1,
        deletionTimestamp: stampOf(ended.at + 300),
        resourceVersion: String(BigInt(String(ended.object.metadata['resourceVersion'])) + 1n),
      },
    };
    const report = judged(adding(sightings, changed(ended.at + 300, 'pod', lowered)));
    expect(report.verdict.outcome).toBe('killed');
    expect(findingCodes(report)).not.toContain('grace-shortened-ignored');
  });

  it('a probe that was refused before the deletion, or for liveness, is no request lost while draining', async () => {
    const sightings = await recorded('graceful-exit');
    const { at, object } = markedIn(sightings);
    const { name, uid } = object.metadata;
    const refused = (probe: string, when: number) => {
      const message = `${probe} probe failed: dial tcp 10.1.1.1:8080: connect: connection refused`;
      const event = eventOf(
        { kind: 'Pod', name, uid, container: 'app' },
        { reason: 'Unhealthy', message },
        { at: when },
      );
      const report = judged(adding(sightings, changed(when + 5, 'events', event, 'ADDED')));
      return report.verdict.findings.find(({ code }) => code === 'drain-race');
    };
    expect(refused('Readiness', at - 900)?.severity).toBe('info');
    expect(refused('Liveness', at + 400)?.severity).toBe('info');
    expect(refused('Readiness', at + 400)?.severity).toBe('warning');
    expect(refused('Readiness', at - 900)?.message).toMatch(/the kubelet asked for the stop signal of app at most/);
  });

  it('finalizers hold a pod that was finished when it was deleted', async () => {
    const sightings = await recorded('completed');
    const { uid } = markedIn(sightings).object.metadata;
    const kept = editing(sightings, 'pod', (pod, sighting) => {
      if (pod.metadata.uid !== uid) return pod;
      const isLast = sighting.kind === 'changed' && sighting.change === 'DELETED';
      const version = BigInt(String(pod.metadata['resourceVersion'])) + (isLast ? 5n : 0n);
      const metadata = { ...pod.metadata, finalizers: ['example.com/audit'], resourceVersion: String(version) };
      return { ...pod, metadata };
    }).map((one) => (one.kind === 'changed' && one.change === 'DELETED' ? { ...one, at: one.at + 20_000 } : one));
    const report = judged(kept.sort((a, b) => a.at - b.at));
    expect(report.verdict.findings.find(({ code }) => code === 'finalizer-held')?.message).toMatch(/20\.?\d* s/);
  });
});
