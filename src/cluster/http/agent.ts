import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { PodexitError } from '../../errors.ts';
import type { Redactor } from '../redact.ts';
import { showUrl } from '../redact.ts';
import type { Wire } from './exchange.ts';

/** TCP keep-alive: finds a peer that vanished without a word, below what a silent watch can tell. */
const keepAlive = { keepAlive: true, keepAliveMsecs: 15_000, scheduling: 'lifo' as const };

/** For connections to the server itself, without TLS. */
export async function plainWire(): Promise<Wire> {
  const { Agent, request } = await import('node:http');
  return { agent: new Agent(keepAlive), request };
}

/** For connections to the server itself, over TLS. `spare` gives one that was made before, once. */
export async function secureWire(spare: () => Duplex | undefined): Promise<Wire> {
  const { Agent, request } = await import('node:https');
  const agent = new Agent(keepAlive) as Dialling;
  const dial = agent.createConnection;
  agent.createConnection = (...options) => spare() ?? dial.apply(agent, options);
  return { agent, request };
}

/** Node documents it (http, agent.createConnection); its types for Node 20 lack it. */
type Dialling = Agent & { createConnection(...options: unknown[]): Duplex };

/** For connections through a proxy. Throws PodexitError `kubeconfig.invalid`. */
export async function proxyWire(proxy: string, base: URL, redactor: Redactor): Promise<Wire> {
  const url = readProxy(proxy);
  redactor.hide(decodeURIComponent(url.password));
  const isSecure = base.protocol === 'https:';
  const [{ ProxyAgent }, { request }] = await Promise.all([
    import('./proxy-agent.ts'),
    isSecure ? import('node:https') : import('node:http'),
  ]);
  // Over http the proxy is told the whole URL of each request, which a connection that is used again would not be.
  const options = isSecure ? keepAlive : { keepAlive: false };
  return { agent: new ProxyAgent({ ...options, getProxyForUrl: () => url.href }), request };
}

const schemes = new Set(['http:', 'https:', 'socks5:', 'socks5h:']);

function readProxy(proxy: string): URL {
  const text = /^\w+:\/\//.test(proxy) ? proxy : `http://${proxy}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !schemes.has(url.protocol)) {
    throw new PodexitError(
      'kubeconfig.invalid',
      `the proxy address ${url === undefined ? '' : `${showUrl(url)} `}is no http, https or socks5 URL`,
      'Correct proxy-url in the kubeconfig, or HTTPS_PROXY.',
    );
  }
  // Go's socks5 leaves names to the proxy to resolve; in Node that is spelt socks5h.
  if (url.protocol === 'socks5:') return new URL(text.replace(/^socks5:/, 'socks5h:'));
  return url;
}
