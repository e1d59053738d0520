/** `why` of a pod that is there now, while Events tell of an earlier pod that had its name. */
import { expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';
import { serving } from '../helpers/serving.ts';

const start = Date.now() - 60_000;
const stampAt = (seconds: number): string => `${new Date(start + seconds * 1000).toISOString().slice(0, 19)}Z`;

const eventOf = (uid: string, reason: string, message: string, seconds: number) => ({
  metadata: {
    name: `web-0.${seconds}`,
    namespace: 'statefulset',
    uid: `event-${seconds}`,
    creationTimestamp: stampAt(seconds),
  },
  ...{ reason, message, source: { component: 'kubelet' } },
  ...{ firstTimestamp: stampAt(seconds), lastTimestamp: stampAt(seconds), count: 1 },
  involvedObject: { kind: 'Pod', name: 'web-0', namespace: 'statefulset', uid, fieldPath: 'spec.containers{app}' },
});

const podThat = (status: object) => ({
  metadata: {
    name: 'web-0',
    namespace: 'statefulset',
    uid: 'now',
    resourceVersion: '1',
    creationTimestamp: stampAt(20),
  },
  spec: { nodeName: 'node1', terminationGracePeriodSeconds: 5, containers: [{ name: 'app', image: 'app' }] },
  status: { phase: 'Running', containerStatuses: [{ name: 'app', ready: true, image: '', imageID: '', ...status }] },
});

const running = { state: { running: { startedAt: stampAt(21) } } };
const restarted = {
  ...running,
  restartCount: 1,
  lastState: { terminated: { exitCode: 137, reason: 'Error', finishedAt: stampAt(45) } },
};

const summaryWhile = (status: object): Promise<string> =>
  serving('statefulset', {}, async ({ server, flags }) => {
    const failed = 'Container app failed liveness probe, will be restarted';
    server.write('events', 'MODIFIED', eventOf('before', 'Killing', 'Stopping container app', 5));
    server.write('events', 'MODIFIED', eventOf('now', 'Killing', failed, 40));
    server.write('pods', 'MODIFIED', podThat(status));
    const { stdout } = await runMain(['why', 'web-0', ...flags, '-o', 'json']);
    return (JSON.parse(stdout) as { summary: string }).summary;
  });

it('tells of the exit of its own container, which is later than the end of the earlier pod', async () => {
  const summary = await summaryWhile(restarted);
  expect(summary).toMatch(
    /^not deleted, phase Running; app exited 137 \(Error\) ≈5\.?\d?s after the kubelet stopped it for its liveness probe/,
  );
});

it('tells of the earlier pod if none of its own containers has exited', async () => {
  expect(await summaryWhile({ ...running, restartCount: 0 })).toMatch(/^stopped by the kubelet/);
});
