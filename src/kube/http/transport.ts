import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
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
  if (proxy !== undefined || base.protocol !== 'https:' || variables['DISABLE_HTTP2']) {
    const wire = await createWire(base, proxy);
    return { exchange: (request) => exchange(wire, request), destroy: () => wire.agent.destroy() };
  }
  const { createSessions } = await import('./sessions.ts');
  const sessions = createSessions(base);
  let wire: Promise<Wire> | undefined;
  return {
    async exchange(request) {
      const reply = await sessions.exchange(request);
      if (reply !== undefined) return reply;
      wire ??= directWire(base, sessions.takeSpare);
      return await exchange(await wire, request);
    },
    destroy() {
      sessions.destroy();
      // If `wire` was rejected, the caller of `exchange` got the error, and there is nothing to destroy.
      void wire?.then(
        ({ agent }) => agent.destroy(),
        () => undefined,
      );
    },
  };
}

/** TCP keep-alive detects a peer that vanished silently, which a silent watch would not show. */
const keepAlive = { keepAlive: true, keepAliveMsecs: 15_000, scheduling: 'lifo' as const };

/** HTTP/1.1 connections to the server `base`, through `proxy` if there is one. */
export async function createWire(base: URL, proxy: URL | undefined): Promise<Wire> {
  if (proxy === undefined) return directWire(base);
  const isSecure = base.protocol === 'https:';
  const [{ proxyAgent }, { request }] = await Promise.all([import('./proxy-agent.ts'), httpFor(base)]);
  // For an http server the agent puts the whole URL into a request, as a proxy needs, but only on a new connection.
  return { agent: proxyAgent(proxy, isSecure, isSecure ? keepAlive : { keepAlive: false }), request };
}

/** `takeSpare` returns, once, a connection that is already open. */
async function directWire(base: URL, takeSpare: () => Duplex | undefined = () => undefined): Promise<Wire> {
  const { Agent, request } = await httpFor(base);
  const agent = new Agent(keepAlive) as ConnectingAgent;
  const dial = agent.createConnection;
  agent.createConnection = (...options) => takeSpare() ?? dial.apply(agent, options);
  return { agent, request };
}

const httpFor = (base: URL) => (base.protocol === 'https:' ? import('node:https') : import('node:http'));

/** Node documents it (http, agent.createConnection); its types for Node 20 lack it. */
type ConnectingAgent = Agent & { createConnection(...options: unknown[]): Duplex };
