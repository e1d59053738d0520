import { markLatency } from './mark-latency.ts';
await markLatency(1);
for (const c of await markLatency(Number(process.argv[2] ?? 6)))
  console.log(c.ours.median.toFixed(1), c.ours.max.toFixed(1), c.note);
export {};
