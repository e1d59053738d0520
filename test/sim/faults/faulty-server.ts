/** The embedded API server, with faults and with the differences of other servers. */
import { startLoopback as startServer, type Loopback, type LoopbackOptions } from '../../../src/demo/loopback.ts';
import type { Fault } from './fault.ts';
import { createFaults } from './faults.ts';
import { keepFreePort } from './kept-port.ts';
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
  // A server that goes down comes back on the same port, so no other process may take it meanwhile.
  const kept =
    options.port === undefined && faults.some(({ kind }) => kind === 'down') ? await keepFreePort() : undefined;
  const server = await startServer({ ...options, port: kept?.port ?? options.port, interfere, makeServer });
  const url = options.tls ? server.url.replace('http:', 'https:') : server.url;
  const close = async () => {
    await server.close();
    await kept?.release();
  };
  return Object.create(server, {
    url: { value: url },
    kubeconfig: { value: () => kubeconfigFor(server.kubeconfig(), url, options) },
    close: { value: close },
  }) as Loopback;
}
