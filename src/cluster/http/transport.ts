import type { Redactor } from '../redact.ts';
import { directAgent, proxyAgent } from './agent.ts';
import type { Exchange, Reply } from './exchange.ts';
import { exchange } from './exchange.ts';
import { proxyFor } from './proxy-rules.ts';
import { createSessions } from './sessions.ts';

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
 * TLS, through a proxy, or where DISABLE_HTTP2 says so (client-go transport.go heeds it too).
 */
export async function createTransport({ base, proxyUrl, env, redactor }: TransportOptions): Promise<Transport> {
  const proxy = proxyUrl ?? proxyFor(base, env);
  if (proxy !== undefined) return overFirstVersion(await proxyAgent(proxy, base, redactor));
  if (base.protocol !== 'https:' || env['DISABLE_HTTP2']) return overFirstVersion(directAgent(base));
  const sessions = createSessions(base);
  const agent = directAgent(base, sessions.takeSpare);
  return {
    async exchange(request) {
      return (await sessions.exchange(request)) ?? (await exchange(agent, request));
    },
    destroy() {
      sessions.destroy();
      agent.destroy();
    },
  };
}

function overFirstVersion(agent: ReturnType<typeof directAgent>): Transport {
  return { exchange: (request) => exchange(agent, request), destroy: () => agent.destroy() };
}
