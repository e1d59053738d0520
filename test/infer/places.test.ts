/** Cases in which podexit could report a false cause or a false replacement. */
import { describe, expect, it } from 'vitest';
import { factsAwaitedUntil } from '../../src/run/ending/trace-end.ts';
import { adding, alone, changed, editing, judged, listed, markedIn, stampOf } from '../helpers/cases.ts';
import type { Raw } from '../helpers/cases.ts';
import { drains } from '../sim/plain-story.ts';
import { ownedCase, successfulDelete } from '../helpers/owned.ts';
import { observationsOf, traceOf } from '../helpers/recordings.ts';

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
