/** A pod that leaves the selection while it terminates: the server sends DELETED, and the pod is still there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { reportOf } from '../../src/advice/report.ts';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { watchedTraces } from '../../src/watch/traces.ts';
import { linesOf, watchStory } from './helpers/watching.ts';

const words = ['-l', 'app=checkout', '-o', 'ndjson', '--no-logs'];

it('is not reported as gone, and one that is removed is', async () => {
  const { stdout } = await watchStory(words, ['leaves', 'ends'], async (server, printed) => {
    for (const name of ['leaves', 'ends']) server.terminate(name, name, 2);
    server.leave('leaves', 2);
    server.remove('ends');
    // A removal without a sign of the containers' ends is reported after the grace period and a second.
    await Promise.all([printed('"uid":"ends"'), sleep(4500)]);
  });
  const reports = linesOf<{ report: { pod: { name: string } } }>(stdout, 'report');
  expect(reports.map(({ report }) => report.pod.name)).toEqual(['ends']);
  expect(linesOf(stdout, 'watch-summary')).toMatchObject([{ exits: 1, stillTerminating: 1 }]);
});

it('is told from a selector that is misspelled and selects nothing', async () => {
  const { stderr } = await watchStory(['-l', 'app=chekout'], ['web'], () => undefined);
  expect(stderr).toContain('watching 0 pods of -l app=chekout in namespace/rollout-25; Ctrl-C prints a summary');
});

it('has the outcome unknown when a last look shows that it is gone', () => {
  const traces = watchedTraces(
    false,
    () => {},
    () => {},
  );
  const at = Date.parse('2026-11-28T10:00:00Z');
  const pod = (metadata: object) => ({
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'shop', uid: 'u1', creationTimestamp: '2026-11-28T09:00:00Z', ...metadata },
    spec: { containers: [{ name: 'app', image: 'web' }] },
    status: {
      phase: 'Running',
      containerStatuses: [
        { name: 'app', restartCount: 0, ready: true, state: { running: { startedAt: '2026-11-28T09:00:05Z' } } },
      ],
    },
  });
  const deleted = { deletionTimestamp: '2026-11-28T10:00:31Z', deletionGracePeriodSeconds: 30, resourceVersion: '2' };
  const began = { kind: 'began', mode: 'attach', namespace: 'shop', name: '', target: 'namespace/shop' } as const;
  const seen: RawObservation[] = [
    { at, ...began, graceSeconds: null, timeoutSeconds: null, waitReplacement: false },
    { at, kind: 'listed', stream: 'pods', resourceVersion: '1', objects: [pod({ resourceVersion: '1' })] },
    { at: at + 1000, kind: 'changed', stream: 'pods', change: 'MODIFIED', object: pod(deleted) },
    { at: at + 5000, kind: 'gap', stream: 'pods', pod: 'u1', from: at + 5000, cause: 'disconnected' },
    { at: at + 150_000, kind: 'looked', pod: 'u1', sentAt: at + 149_990, object: undefined },
    { at: at + 150_000, kind: 'timer', name: 'timeout', pod: 'u1' },
  ];
  seen.forEach((raw, index) => traces.add(observe(raw, index + 1, { logText: false })));
  const trace = traces.get('u1');
  expect(trace && reportOf(trace)?.verdict.outcome).toBe('unknown');
});
