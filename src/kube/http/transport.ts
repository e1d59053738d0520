import type { Redactor } from '../redact.ts';
import { plainWire, proxyWire, secureWire, type Proxy } from './agent.ts';
import { exchange, type Exchange, type Reply, type Wire } from './exchange.ts';
import { proxyFor } from './proxy-rules.ts';

export interface TransportOptions {
  base: URL;
  /** The cluster's own; it goes before everything in the environment. */
  proxyUrl?: string;
  env: Readonly<Record<string, string | undefined>>;
  redactor: Redactor;
}

/** All connections of a run. */
export interface Transport {
  /** Sends one request and waits for the headers of its answer. Its throws are those of `exchange`. */
  exchange(request: Exchange): Promise<Reply>;
  /** Ends every connection. */
  destroy(): void;
}

/**
 * HTTP/2 where the server grants it, so that all streams share one connection; else HTTP/1.1 with one agent: without
 * TLS, through a proxy, or where DISABLE_HTTP2 says so (client-go transport.go respects it too).
 */
export async function createTransport(options: TransportOptions): Promise<Transport> {
  const { base, env, redactor } = options;
  const proxy = proxyOf(options);
  if (proxy !== undefined) return overFirstVersion(await proxyWire(proxy, base, redactor));
  if (base.protocol !== 'https:') return overFirstVersion(await plainWire());
  if (env['DISABLE_HTTP2']) return overFirstVersion(await secureWire(() => undefined));
  const { createSessions } = await import('./sessions.ts');
  const sessions = createSessions(base);
  let wire: Promise<Wire> | undefined;
  return {
    async exchange(request) {
      const reply = await sessions.exchange(request);
      if (reply !== undefined) return reply;
      wire ??= secureWire(sessions.takeSpare);
      return await exchange(await wire, request);
    },
    destroy() {
      sessions.destroy();
      // The caller gets the reason; here nothing is left to destroy then.
      void wire?.then(
        ({ agent }) => agent.destroy(),
        () => undefined,
      );
    },
  };
}

export function proxyOf({
  base,
  proxyUrl,
  env,
}: Pick<TransportOptions, 'base' | 'proxyUrl' | 'env'>): Proxy | undefined {
  if (proxyUrl !== undefined) return { address: proxyUrl, from: 'proxy-url in the kubeconfig' };
  const address = proxyFor(base, env);
  const name = base.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return address === undefined ? undefined : { address, from: `${name} in the environment` };
}

function overFirstVersion(wire: Wire): Transport {
  return { exchange: (request) => exchange(wire, request), destroy: () => wire.agent.destroy() };
}

/** What was asked of the API server; no request is in two of them. */
export interface RequestCounts {
  watches: number;
  logs: number;
  others: number;
}

/** Counts into `counts`. A watch that goes on where it ended, as each does after some minutes, is no second one. */
export function counted(transport: Transport, counts: RequestCounts): Transport {
  const watched = new Set<string>();
  return {
    ...transport,
    exchange(request) {
      const { pathname, searchParams } = request.url;
      const narrowed = `${pathname} ${searchParams.get('fieldSelector')} ${searchParams.get('labelSelector')}`;
      if (!searchParams.has('watch')) counts[/\/pods\/[^/]+\/log$/.test(pathname) ? 'logs' : 'others'] += 1;
      else if (!watched.has(narrowed)) counts.watches = watched.add(narrowed).size;
      return transport.exchange(request);
    },
  };
}
