/** What deleted the pod of a StatefulSet, a DaemonSet or a ReplicaSet (SIGNALS.md §4), and what may pass for it. */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/model/observation.ts';
import { adding, attached, changed, editing, judged, listed, markedIn, ownerOf, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { ownedCase, successfulDelete } from '../../helpers/owned.ts';

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

  it.each([
    ['api-4', 3, 2, 'rollout'],
    ['api-3', 3, 2, 'rollout'],
    ['api-5', 3, 2, 'scale-down'],
    ['api-0', 0, 0, 'scale-down'],
    ['api-0', 1, 5, 'scale-down'],
  ])(
    '%s of a set whose places begin at %i and are %i: its controller deletes it for a %s',
    (name, start, replicas, kind) => {
      const change = { pod: { name, graceSeconds: 10, state: 'running' as const, finalizers: [] } };
      const { at, sightings } = ownedCase('StatefulSet', 'api', { spec: { replicas, ordinals: { start } } }, change);
      const message = `delete Pod ${name} in StatefulSet api successful`;
      const event = successfulDelete('StatefulSet', 'api', 'statefulset-controller', message, at);
      expect(judged(adding(sightings, changed(at + 12, 'owner-events', event, 'ADDED'))).trigger.kind).toBe(kind);
    },
  );

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

describe('a ReplicaSet that no Deployment owns', () => {
  const deleted = (at: number) =>
    successfulDelete('ReplicaSet', 'api', 'replicaset-controller', 'Deleted pod: api-0', at);

  it('scales down: it deletes a pod only where it has too many', () => {
    const { at, sightings } = ownedCase('ReplicaSet', 'api', { spec: { replicas: 3 } });
    const fewer = changed(at - 8, 'owner', ownerOf('ReplicaSet', 'api', { spec: { replicas: 2 } }));
    const event = changed(at + 12, 'owner-events', deleted(at), 'ADDED');
    expect(judged(adding(sightings, fewer, event)).trigger.kind).toBe('scale-down');
    expect(judged(adding(sightings, event)).trigger.kind).toBe('scale-down');
  });

  it('is not known to have chosen the pod because it was scaled down: it says which one it deleted', () => {
    const { at, sightings } = ownedCase('ReplicaSet', 'api', { spec: { replicas: 3 } });
    const fewer = changed(at - 8, 'owner', ownerOf('ReplicaSet', 'api', { spec: { replicas: 2 } }));
    const other = successfulDelete('ReplicaSet', 'api', 'replicaset-controller', 'Deleted pod: api-9', at);
    const choice = changed(at + 12, 'owner-events', other, 'ADDED');
    const lost: Sighting = { at: at + 20, kind: 'gap', stream: 'owner-events', from: at - 20, cause: 'disconnected' };
    expect(judged(adding(sightings, fewer)).trigger.kind).toBe('unknown');
    expect(judged(adding(sightings, fewer, lost)).trigger.kind).toBe('scale-down');
    expect(judged(adding(sightings, fewer, choice, lost)).trigger.kind).toBe('unknown');
  });

  it('was not the one that deleted it, where nothing of it changed', () => {
    const { sightings } = ownedCase('ReplicaSet', 'api', { spec: { replicas: 3 } });
    expect(judged(sightings).trigger.kind).toBe('unknown');
  });
});
