/** The counts are correct even on a busy machine and during standstills of the probing process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { kindsOf, probing, unmeasuredIn } from './helpers/probing.ts';

const script = fileURLToPath(new URL('./helpers/counting-server.mjs', import.meta.url));

/** Blocks the probing process, as on a machine with too few processors. */
function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('counts the same as the server, with another busy thread and standstills in every phase', async () => {
  const child = fork(script);
  const setMode = async (mode: string): Promise<{ port: number; at: number }> => {
    child.send(mode);
    return ((await once(child, 'message')) as [{ port: number; at: number }])[0];
  };
  const { port } = await setMode('ok');
  const began: Record<string, number> = {};
  const { result, trouble, nearMs } = await probing(
    `http://127.0.0.1:${port}/`,
    { keepalive: true, timeoutMs: 1000 },
    async () => {
      await sleep(1100);
      // Windows more than a second apart are separate.
      for (const mode of ['503', 'reset', 'closed', 'silent']) {
        const busy = new Worker('for (;;);', { eval: true });
        began[mode] = (await setMode(mode)).at;
        await sleep(150);
        standStill(400);
        await sleep(150);
        await setMode('ok');
        await busy.terminate();
        await sleep(1100);
      }
    },
  );
  const seen = (await setMode('end')) as unknown as Record<string, { count: number; first: number }>;
  expect(trouble).toBeUndefined();
  const kinds = kindsOf(result);
  expect(result.succeeded).toBe(seen['ok']?.count);
  expect(kinds['http 503']).toBe(seen['503']?.count);
  // Connections that break when the port closes are resets too.
  expect(kinds['reset']).toBeGreaterThanOrEqual(seen['reset']?.count ?? Infinity);
  expect(kinds['refused']).toBeGreaterThan(5);
  expect(kinds['timeout'] ?? 0).toBeLessThanOrEqual(seen['silent']?.count ?? 0);
  expect((kinds['timeout'] ?? 0) + unmeasuredIn(result)).toBeGreaterThanOrEqual(seen['silent']?.count ?? Infinity);
  for (const [mode, kind] of Object.entries({ 503: 'http', reset: 'reset', closed: 'refused' })) {
    const window = result.windows.find(({ stretches }) => stretches.some((one) => one.kind === kind));
    const from = seen[mode]?.first ?? began[mode] ?? NaN;
    expect(Math.abs((window?.start ?? NaN) - from), mode).toBeLessThan(nearMs);
  }
});
