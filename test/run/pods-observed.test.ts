/** What a run over several pods opens for a pod that terminates, and closes once it is gone. */
import { expect, it } from 'vitest';
import type { Run } from '../../src/run/streams/live-run.ts';
import { createPodObserver } from '../../src/run/streams/streams-of-several.ts';
import { createGate } from '../../src/run/streams/stream-health.ts';
import type { SharedStreams } from '../../src/run/streams/shared-streams.ts';

const pod = (uid: string, deletionTimestamp?: string) => ({
  metadata: { name: uid, namespace: 'shop', uid, deletionTimestamp },
  spec: { nodeName: 'node-1' },
  status: { phase: 'Running' },
});

it('closes what belongs to a pod that ended while its watch was lost', () => {
  const [closed, missed]: [unknown[], unknown[]] = [[], []];
  const shared: SharedStreams = {
    listServices: () => {},
    openRoutes: () => {},
    openOwners: () => {},
    openOwner: () => {},
    openPlace: () => {},
    openLogs: () => {},
    closeOf: (one) => void closed.push(one),
  };
  const listener = { missed: ({ metadata }: { metadata?: unknown }) => void missed.push(metadata) };
  const observe = createPodObserver({ listener } as unknown as Run, shared, createGate());
  const list = (...objects: unknown[]): void =>
    observe({ at: 0, kind: 'listed', stream: 'pods', resourceVersion: '1', objects });
  list(pod('stays'), pod('terminates', '2026-11-28T10:00:00Z'), pod('vanishes'));
  list(pod('stays'));
  expect(closed).toMatchObject([
    { metadata: { uid: 'terminates' }, spec: { nodeName: 'node-1' } },
    { metadata: { uid: 'vanishes' }, spec: { nodeName: 'node-1' } },
  ]);
  expect(missed).toMatchObject([{ uid: 'vanishes' }]);
});
