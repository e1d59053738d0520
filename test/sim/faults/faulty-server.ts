/** The embedded API server, with faults and with the differences of other servers. */
import { createServer } from 'node:net';
import { startLoopback as startServer, type Loopback, type LoopbackOptions } from '../../../src/demo/loopback.ts';
import type { Fault } from './fault.ts';
import { createFaults } from './faults.ts';
import { kubeconfigFor, overTls, serveAsOther, type OtherServer } from './other-server.ts';

export interface FaultyOptions extends Omit<LoopbackOptions, 'interfere' | 'makeServer'>, OtherServer {
  faults?: readonly Fault[];
}

export async function startLoopback({ faults = [], ...options }: FaultyOptions): Promise<Loopback> {
  const interfere: LoopbackOptions['interfere'] = (cluster) => {
    const inner = createFaults(faults, cluster);
    return {
      ...inner,
      around: (exchange, serve) => serveAsOther(options, cluster, exchange, () => inner.around(exchange, serve)),
    };
  };
  const makeServer = options.tls && overTls(options.tls);
  const port = faults.some(({ kind }) => kind === 'down') ? await freePort() : undefined;
  const server = await startServer({ port, ...options, interfere, makeServer });
  const url = options.tls ? server.url.replace('http:', 'https:') : server.url;
  return Object.create(server, {
    url: { value: url },
    kubeconfig: { value: () => kubeconfigFor(server.kubeconfig(), url, options) },
  }) as Loopback;
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
