/** From the start of a process to the arrival of its DELETE at the API server. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { Loopback } from '../../test/sim/faults/faulty-server.ts';
import { parseScenario } from '../../src/demo/scenarios.ts';
import { scenarioFile } from '../../test/helpers/recordings.ts';
import { certificates } from '../../test/kube/helpers/certificates.ts';
import { startLoopback } from '../../test/sim/faults/faulty-server.ts';
import { contest, type Contest } from './contest.ts';
import { startDelayProxy, type Proxy } from './proxy.ts';
import { ended, hasKubectl, podexit, start } from './program.ts';

const scenario = parseScenario(readFileSync(scenarioFile('graceful-exit'), 'utf8'));
/** Without a token, kubectl asks for a name and a password over TLS. */
const token = 'bench';
const now = (): number => performance.timeOrigin + performance.now();
const clock = {
  now: () => Math.floor(now()),
  setTimeout: (run: () => void, ms: number) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export async function untilDelete(rounds: number): Promise<Contest[]> {
  return [
    await race('until the DELETE arrives', rounds, 1.5, () => startLoopback({ scenario, clock })),
    await race('the same with an empty home folder', rounds, 1.5, () => startLoopback({ scenario, clock }), {
      isNew: true,
    }),
    await race(
      'the same over TLS, 40 ms away',
      rounds,
      1.0,
      async () => startLoopback({ scenario, clock, tls: { ...(await certificates()).server, http2: true }, token }),
      { roundTripMs: 40 },
    ),
  ];
}

interface Situation {
  /** The round trip to the server, ms. */
  roundTripMs?: number;
  /** The home folder is empty, without caches of an earlier run. */
  isNew?: boolean;
}

function race(
  name: string,
  rounds: number,
  promised: number,
  open: () => Promise<Loopback>,
  situation: Situation = {},
): Promise<Contest> {
  const run = (words: (pod: string, folder: string) => string[]) => () => once(open, situation, words);
  return contest({
    name,
    unit: 'ms',
    rounds,
    promised,
    ours: run((pod) => [...podexit, pod, '-o', 'ndjson', '--no-config']),
    reference: hasKubectl
      ? {
          name: 'kubectl delete',
          measure: run((pod, folder) => ['kubectl', 'delete', 'pod', pod, '--cache-dir', join(folder, 'cache')]),
        }
      : undefined,
  });
}

async function once(
  open: () => Promise<Loopback>,
  { roundTripMs, isNew = false }: Situation,
  words: (pod: string, folder: string) => string[],
): Promise<number> {
  const server = await open();
  const folder = mkdtempSync(join(tmpdir(), 'podexit-bench-'));
  const proxy = roundTripMs === undefined ? undefined : await startDelayProxy(portOf(server.url), roundTripMs);
  const config = join(folder, 'kubeconfig');
  writeFileSync(config, await kubeconfigFor(server, proxy));
  const began = now();
  const child = start(
    [...words(server.pod, folder), '-n', server.namespace, '--kubeconfig', config],
    'ignore',
    isNew ? folder : undefined,
  );
  try {
    return (await arrival(server)) - began;
  } finally {
    child.kill('SIGKILL');
    await ended(child);
    await proxy?.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function arrival(server: Loopback): Promise<number> {
  for (const until = now() + 20_000; now() < until;) {
    const found = server.requests.find(({ method, resource }) => method === 'DELETE' && resource === 'pods');
    if (found) return found.at;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`no DELETE within 20 s; requests: ${server.requests.map(({ url }) => url).join(' ')}`);
}

const portOf = (url: string): number => Number(new URL(url).port);

/** As YAML, like kubectl writes it. */
export async function kubeconfigFor(server: Loopback, proxy?: Proxy): Promise<string> {
  const text = server.kubeconfig();
  const config = JSON.parse(text) as { clusters: { cluster: Record<string, string> }[] };
  for (const { cluster } of config.clusters) {
    if (proxy) cluster['server'] = cluster['server']?.replace(/:\d+$/, `:${proxy.port}`) ?? '';
    // The certificate of the loopback server is signed by the CA of the tests.
    if (cluster['certificate-authority-data'] !== undefined)
      cluster['certificate-authority-data'] = Buffer.from((await certificates()).ca).toString('base64');
  }
  return dump(config);
}
