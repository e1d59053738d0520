/** `--tls`: a whole deletion over TLS beside that of kubectl, as the server sees both. Linux, with Python 3. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { loadScenario, scenariosNamed } from '../../src/demo/scenarios.ts';
import { certificates } from '../../test/kube/helpers/certificates.ts';
import { startLoopback } from '../../test/sim/faults/faulty-server.ts';
import { against, type Contest } from './contest.ts';
import { ended, hasKubectl, podexit, start } from './program.ts';
import { spreadOf } from './spread.ts';
import { arrival, kubeconfigFor } from './until-delete.ts';

interface Used {
  /** From the start of the process until the DELETE arrived, ms. */
  untilDeleteMs: number;
  requestsBefore: number;
  requests: number;
  cpuMs: number;
  peakMiB: number;
}

/** `kept`: with what earlier runs saved in the home folder. */
export async function wholeDeletion(runs: number): Promise<Contest[]> {
  if (!hasKubectl || spawnSync('python3', ['-V']).status !== 0) {
    process.stderr.write('bench: --tls needs kubectl and python3 on the PATH\n');
    return [];
  }
  const [kept, empty] = [await inTurns(runs, 'kept'), await inTurns(runs, 'empty')];
  return [
    rowOf('until the DELETE arrives, over TLS', 'ms', kept, 'untilDeleteMs', { ratio: 1.3 }),
    rowOf('the same with an empty home folder', 'ms', empty, 'untilDeleteMs', { ratio: 1.4 }),
    rowOf('requests up to the DELETE', 'requests', kept, 'requestsBefore', { most: 4 }),
    rowOf('requests of a whole deletion', 'requests', kept, 'requests', { most: 10 }),
    rowOf('CPU of a whole deletion', 'ms', kept, 'cpuMs', { ratio: 1.6 }),
    rowOf('peak memory of a whole deletion', 'MiB', kept, 'peakMiB', { ratio: 1.2 }),
  ];
}

interface Both {
  ours: Used[];
  theirs: Used[];
}

function rowOf(
  name: string,
  unit: Contest['unit'],
  { ours, theirs }: Both,
  figure: keyof Used,
  promised: { ratio?: number; most?: number } = {},
): Contest {
  const mine = spreadOf(ours.map((one) => one[figure]));
  const row = against(mine, 'kubectl delete', spreadOf(theirs.map((one) => one[figure])), promised.ratio);
  const promise = promised.most === undefined ? {} : { promise: { of: unit, value: mine.median, most: promised.most } };
  return { name, unit, ours: mine, ...row, ...promise };
}

async function inTurns(runs: number, home: 'kept' | 'empty'): Promise<Both> {
  const both: Both = { ours: [], theirs: [] };
  const folders = [newFolder(), newFolder()] as const;
  let port: number | undefined;
  // The first round fills the home folders, and the file cache.
  for (let run = -1; run < runs; run += 1) {
    if (home === 'empty') folders.forEach(emptied);
    const until = home === 'empty' && run >= 0 ? 'its DELETE' : 'its end';
    const ours = await deletion(podexit, folders[0], { port, until });
    // What kubectl saves about a server is saved under its port.
    ({ port } = ours);
    const theirs = await deletion(['kubectl', 'delete', 'pod'], folders[1], { port, until });
    if (run < 0) continue;
    both.ours.push(ours);
    both.theirs.push(theirs);
  }
  folders.forEach((folder) => rmSync(folder, { recursive: true }));
  return both;
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'podexit-bench-'));

const emptied = (folder: string): void => ['.cache', '.kube'].forEach((one) => rmSync(join(folder, one), all));

const all = { recursive: true, force: true };

const [played] = scenariosNamed('graceful-exit');
const used = ['python3', fileURLToPath(new URL('used.py', import.meta.url))];
/** Without a token, kubectl asks for a name and a password over TLS. */
const token = 'bench';

interface Limits {
  port: number | undefined;
  /** A run with an empty home folder is killed at its DELETE, which saves four seconds. */
  until: 'its DELETE' | 'its end';
}

async function deletion(
  words: readonly string[],
  home: string,
  { port, until }: Limits,
): Promise<Used & { port: number }> {
  if (!played) throw new Error('the scenario is missing');
  const tls = { ...(await certificates()).server, http2: true };
  const server = await startLoopback({ scenario: loadScenario(played), port, tls, token });
  const kubeconfig = join(home, 'kubeconfig');
  writeFileSync(kubeconfig, await kubeconfigFor(server));
  const flags = [server.pod, '-n', server.namespace, '--kubeconfig', kubeconfig];
  const child = start([...used, ...words, ...flags], 'pipe', home);
  if (until === 'its DELETE') void arrival(server).finally(() => child.kill());
  const [printed] = await Promise.all([child.stdout ? text(child.stdout) : '', ended(child)]);
  await server.close();
  const { began, cpuMs, peakMiB, exitCode } = JSON.parse(printed) as Record<string, number>;
  const { requests } = server;
  const before = requests.findIndex(({ method, resource }) => method === 'DELETE' && resource === 'pods');
  const arrivedAt = requests[before]?.at;
  if (arrivedAt === undefined || began === undefined || cpuMs === undefined || peakMiB === undefined)
    throw new Error(`no DELETE by ${words.join(' ')}, exit code ${exitCode}`);
  const counts = { requestsBefore: before, requests: requests.length };
  return { untilDeleteMs: arrivedAt - began, ...counts, cpuMs, peakMiB, port: Number(new URL(server.url).port) };
}
