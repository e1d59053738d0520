/** The embedded API server, with faults and with the differences of other servers. */
import { createServer } from 'node:net';
import { forget } from '../../../src/demo/data/log.ts';
import { startLoopback as startServer, type LoopbackOptions } from '../../../src/demo/loopback.ts';
import type { Playback } from '../../../src/demo/cluster.ts';
import type { Call } from '../../../src/demo/http/exchange.ts';
import { demoClock } from '../../../src/demo/clock.ts';
import type { Fault } from './fault.ts';
import { createFaults } from './faults.ts';
import { kubeconfigFor, overTls, serveAsOther, type OtherServer } from './other-server.ts';
import { isDeletion, logOf, type RequestLog } from './request-log.ts';

export interface FaultyOptions extends Omit<LoopbackOptions, 'interfere' | 'makeServer'>, OtherServer {
  faults?: readonly Fault[];
}

export type Loopback = Awaited<ReturnType<typeof startLoopback>>;

export async function startLoopback({ faults = [], ...options }: FaultyOptions) {
  const requests: RequestLog[] = [];
  const entries = new WeakMap<Call, RequestLog>();
  let current: Playback | undefined;
  const interfere: LoopbackOptions['interfere'] = (cluster) => {
    current = cluster;
    const inner = createFaults(faults, cluster, (call) => entries.get(call)?.nthOnConnection ?? 1);
    const around = (call: Call, serve: () => Promise<void>): Promise<void> => {
      const entry = logOf(call, options.clock ?? demoClock);
      entries.set(call, entry);
      requests.push(entry);
      const serveAndCount = async (): Promise<void> => {
        await serve();
        entry.isAccepted = isDeletion(call.request);
      };
      return serveAsOther(options, cluster, call, () => inner.around(call, serveAndCount));
    };
    return { ...inner, around };
  };
  const makeServer = options.tls && overTls(options.tls);
  const port = faults.some(({ kind }) => kind === 'down') ? await freePort() : undefined;
  const server = await startServer({ port, ...options, interfere, makeServer });
  const url = options.tls ? server.url.replace('http:', 'https:') : server.url;
  return {
    ...server,
    url,
    kubeconfig: () => kubeconfigFor(server.kubeconfig(), url, options),
    /** Every request since the start, in order of arrival. */
    requests: requests as readonly RequestLog[],
    /** How many DELETEs and evictions of pods were executed; dry runs and refused ones do not count. */
    get deletesAccepted(): number {
      return requests.filter(({ isAccepted }) => isAccepted).length;
    },
    /** Forgets the history: a watch that resumes from an older revision gets a 410. */
    compact: () => current && forget(current.log, current.log.revision),
  };
}

/** Below the ephemeral ports, which start at 32768 (Linux) or 49152 (RFC 6335, §6): a server that comes back finds it free. */
async function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  return isFree ? port : freePort();
}
