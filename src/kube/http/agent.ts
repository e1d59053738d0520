import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { PodexitError } from '../../errors.ts';
import type { Redactor } from '../redact.ts';
import type { Wire } from './exchange.ts';

/** TCP keep-alive: finds a peer that vanished without a word, which a silent watch would not show. */
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

/** A proxy's address, and where it was read: errors name that place, never the password in the address. */
export interface Proxy {
  address: string;
  /** For example `proxy-url in the kubeconfig`. */
  from: string;
}

/** For connections through a proxy. Throws PodexitError `kubeconfig.invalid`. */
export async function proxyWire(proxy: Proxy, base: URL, redactor: Redactor): Promise<Wire> {
  const url = readProxy(proxy);
  hideUser(url, redactor);
  const isSecure = base.protocol === 'https:';
  const [{ proxyAgent }, { request }] = await Promise.all([
    import('./proxy-agent.ts'),
    isSecure ? import('node:https') : import('node:http'),
  ]);
  // Over http the proxy gets the whole URL of each request, which a connection that is used again would not be.
  const options = isSecure ? keepAlive : { keepAlive: false };
  return { agent: proxyAgent(url, isSecure, options), request };
}

/** In each form in which it may come back: as written, decoded, and as the proxy gets it. */
function hideUser({ username, password }: URL, redactor: Redactor): void {
  redactor.hide(password);
  redactor.hide(decodeURIComponent(password));
  if (password !== '') redactor.hide(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
}

const schemes = new Set(['http:', 'https:', 'socks5:', 'socks5h:']);

function readProxy({ address, from }: Proxy): URL {
  const text = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !schemes.has(url.protocol)) {
    const shown = url === undefined ? '' : ` ${shownProxy(url)}`;
    throw wrongProxy(`the proxy address${shown} (${from}) is no http, https or socks5 URL`, `Correct ${from}.`);
  }
  if (!isDecodable(url.username) || !isDecodable(url.password))
    throw wrongProxy(
      `the user or the password in the proxy address ${shownProxy(url)} (${from}) has a "%" that begins no %XX of UTF-8`,
      `Correct ${from}: a "%" that is meant itself is written %25.`,
    );
  // Go's socks5 leaves names to the proxy to resolve; in Node that is spelt socks5h.
  if (url.protocol === 'socks5:') return new URL(text.replace(/^socks5:/, 'socks5h:'));
  return url;
}

/** Go refuses such a URL too (net/url, "invalid URL escape"); Node's own URL keeps it as it is. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Without a path, which a proxy has no use for: a password with a bare "/" in it would end there. */
const shownProxy = ({ protocol, host }: URL): string => `${protocol}//${host}`;

const wrongProxy = (message: string, hint: string): PodexitError =>
  new PodexitError('kubeconfig.invalid', message, hint);
