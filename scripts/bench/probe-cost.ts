/** What probing costs at the default and at the highest rate: CPU, memory, and how well the rate is kept. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Contest } from './contest.ts';
import { spreadOf } from './spread.ts';

/** What probing-child.ts reports. */
export interface ProbeCost {
  /** CPU time per request, µs. */
  cpuPerRequest: number;
  /** Resident memory at the end, MiB. */
  memory: number;
  /** Requests that were sent or reported as not sent, divided by those that were due. */
  held: number;
}

/** A server that answers every request at once, and prints its port. */
const server = `const s=require('http').createServer((q,r)=>r.end('ok')).listen(0,'127.0.0.1',()=>console.log(s.address().port))`;

export async function probeCost(seconds: number): Promise<Contest[]> {
  const answering = spawn(process.execPath, ['-e', server], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(answering.stdout, 'data')) as [Buffer];
  try {
    const rows: Contest[] = [];
    for (const rate of [20, 500]) rows.push(...rowsOf(rate, await measured(rate, seconds, Number(port))));
    return rows;
  } finally {
    answering.kill();
  }
}

async function measured(rate: number, seconds: number, port: number): Promise<ProbeCost> {
  const child = fork(fileURLToPath(new URL('./probing-child.ts', import.meta.url)), [
    `${rate}`,
    `${seconds}`,
    `${port}`,
  ]);
  const [cost] = (await once(child, 'message')) as [ProbeCost];
  return cost;
}

function rowsOf(rate: number, { cpuPerRequest, memory, held }: ProbeCost): Contest[] {
  const note = `${(held * 100).toFixed(2)}% of the requests that were due`;
  const off = Math.abs(held - 1);
  return [
    {
      name: `CPU of a request, ${rate}/s`,
      unit: 'µs',
      ours: spreadOf([cpuPerRequest]),
      note,
      promise: { of: '% off the rate', value: off * 100, most: 1 },
    },
    { name: `memory of a probe, ${rate}/s`, unit: 'MiB', ours: spreadOf([memory]) },
  ];
}
