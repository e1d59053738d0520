import { exchange, type Exchange, type Reply, type Wire } from './exchange.ts';
import type { Variables } from '../env.ts';

/** All connections of a run. */
export interface Transport {
  /** Sends one request and waits for the headers of its answer. Throws what `exchange` throws. */
  exchange(request: Exchange): Promise<Reply>;
  destroy(): void;
}

/**
 * HTTP/2 if the server offers it, so that all streams share one connection; else HTTP/1.1 with one agent. HTTP/1.1 also
 * without TLS, through a proxy, or with DISABLE_HTTP2 (client-go transport.go respects it too).
 */
export async function createTransport(base: URL, proxy: URL | undefined, variables: Variables): Promise<Transport> {
  const isHttp1 = proxy !== undefined || base.protocol !== 'https:' || variables['DISABLE_HTTP2'];
  const sessions = isHttp1 ? undefined : (await import('./sessions.ts')).createSessions(base);
  let wire: Promise<Wire> | undefined;
  return {
    async exchange(request) {
      const reply = await sessions?.exchange(request);
      return reply ?? (await exchange(await (wire ??= createWire(base, proxy)), request));
    },
    destroy() {
      sessions?.destroy();
      void wire?.then(({ agent }) => agent.destroy());
    },
  };
}

/** TCP keep-alive detects a peer that vanished silently, which a silent watch would not show. */
const keepAlive = { keepAlive: true, keepAliveMsecs: 15_000, scheduling: 'lifo' as const };

/** HTTP/1.1 connections to the server `base`, through `proxy` if there is one. */
export async function createWire(base: URL, proxy: URL | undefined): Promise<Wire> {
  const isSecure = base.protocol === 'https:';
  const { Agent, request } = await (isSecure ? import('node:https') : import('node:http'));
  if (proxy === undefined) return { agent: new Agent(keepAlive), request };
  const { proxyAgent } = await import('./proxy-agent.ts');
  // For an http server the agent puts the whole URL into a request, as a proxy needs, but only on a new connection.
  return { agent: proxyAgent(proxy, isSecure, isSecure ? keepAlive : { keepAlive: false }), request };
}
