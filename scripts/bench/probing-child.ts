/** `probing-child.ts RATE SECONDS PORT`: probes, and reports the cost to its parent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/run/clock.ts';
import { startProbes } from '../../src/probe/start.ts';
import { parseProbeTarget } from '../../src/probe/target.ts';
import type { ProbeCost } from './probe-cost.ts';

const [ratePerSecond = 20, seconds = 60, port = 0] = process.argv.slice(2).map(Number);
const target = parseProbeTarget(`http://127.0.0.1:${port}/`);
let [sent, missed] = [0, 0];
const settings = { method: 'GET', headers: {}, expect: [{ from: 200, to: 399 }], keepalive: true, insecure: false };
const probes = startProbes(
  {
    probes: [{ ...settings, target, ratePerSecond, timeoutMs: 1000 }],
    now: () => systemClock.now(),
    userAgent: 'bench',
    ask: () => Promise.reject(new Error('no API server')),
    namespace: '',
  },
  (one) => {
    if (one.kind !== 'probe-counts') return;
    sent += one.new.sent + (one.kept?.sent ?? 0);
    missed += (one.notMeasured ?? []).reduce((sum, { count }) => sum + count, 0);
  },
  new AbortController().signal,
);
const [began, before] = [performance.now(), process.cpuUsage()];
await sleep(seconds * 1000);
const due = ((performance.now() - began) / 1000) * ratePerSecond;
await probes.stop();
const { user, system } = process.cpuUsage(before);
const cost: ProbeCost = {
  cpuPerRequest: (user + system) / sent,
  memory: process.memoryUsage.rss() / 2 ** 20,
  // The first request leaves at once.
  held: (sent + missed - 1) / due,
};
process.send?.(cost, () => process.exit());
