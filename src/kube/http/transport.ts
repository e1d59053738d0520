/** The connections of a run, and the proxy that they go through: the one that kubectl would use. */
import { exchange, type Exchange, type Reply, type Wire } from './exchange.ts';
import type { Variables } from '../env.ts';
import { BlockList, isIP } from 'node:net';
import { PodexitError } from '../../errors.ts';
import type { Redactor } from '../redact.ts';
import { socketHost, socketPort } from './failure.ts';

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

/**
 * The proxy to the server `base`; undefined if it is reached without one. `proxyUrl`: that of the cluster, which wins over
 * the environment. Throws PodexitError `kubeconfig.invalid`.
 */
export function chooseProxy(
  base: URL,
  { proxyUrl, variables, redactor }: { proxyUrl?: string; variables: Variables; redactor: Redactor },
): URL | undefined {
  const address = proxyUrl ?? proxyFor(base, variables);
  if (address === undefined) return undefined;
  const from = proxyUrl === undefined ? `${nameFor(base)} in the environment` : 'proxy-url in the kubeconfig';
  const url = readProxy(address, from);
  const [username, password] = decoded(url, from);
  // Each form in which it may be echoed: as written, decoded, and as the proxy gets it.
  if (password) [url.password, password, `${username}:${password}`].forEach(redactor.hide);
  return url;
}

/** Errors name the source of the address (`from`), never the password in it. */
function readProxy(address: string, from: string): URL {
  const text = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:', 'socks5:', 'socks5h:'].includes(url.protocol)) {
    const shown = url === undefined ? '' : ` ${shownProxy(url)}`;
    throw wrongProxy(`the proxy address${shown} (${from}) is not an http, https or socks5 URL`, `Correct ${from}.`);
  }
  // With socks5, Go lets the proxy resolve host names; Node's libraries call that socks5h.
  if (url.protocol === 'socks5:') return new URL(text.replace(/^socks5:/, 'socks5h:'));
  return url;
}

/** Go also refuses a URL with a wrong escape (net/url, "invalid URL escape"); Node's URL accepts it. */
function decoded(url: URL, from: string): string[] {
  try {
    return [url.username, url.password].map(decodeURIComponent);
  } catch {
    throw wrongProxy(
      `the user or the password in the proxy address ${shownProxy(url)} (${from}) has a "%" that begins no %XX of UTF-8`,
      `Correct ${from}: a "%" that is meant itself is written %25.`,
    );
  }
}

/** Without the path: a proxy does not use one, and it may be the end of a password with an unescaped "/". */
const shownProxy = ({ protocol, host }: URL): string => `${protocol}//${host}`;

const wrongProxy = (message: string, hint: string): PodexitError =>
  new PodexitError('kubeconfig.invalid', message, hint);

const nameFor = (server: URL): string => (server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');

/**
 * The proxy that kubectl would use for this server, by Go's rules (golang.org/x/net/http/httpproxy): HTTPS_PROXY or
 * HTTP_PROXY by the server's scheme, upper case first, unless NO_PROXY names the host; never for localhost.
 */
export function proxyFor(server: URL, variables: Variables): string | undefined {
  const name = nameFor(server);
  const proxy = read(variables, name);
  if (proxy === '') return undefined;
  const host = socketHost(server).toLowerCase();
  const port = String(socketPort(server));
  const isLocal = host === 'localhost' || host === '::1' || inRange(host, '127.0.0.0/8');
  if (isLocal || isInNoProxy(host, port, read(variables, 'NO_PROXY'))) return undefined;
  return proxy;
}

function read(variables: Variables, name: string): string {
  return variables[name] || variables[name.toLowerCase()] || '';
}

/** NO_PROXY: `*`, addresses, CIDR ranges, domains and all below them (`.x`, `*.x`: only below); a port is optional. */
function isInNoProxy(host: string, port: string, list: string): boolean {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(host, port, entry));
}

function matches(host: string, port: string, entry: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return inRange(host, entry);
  const [, name = entry, onlyPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const bare = name.replace(/^\[(.*)\]$/, '$1');
  // An IPv6 address can be written in several ways.
  if (isIP(bare) !== 0) return inRange(host, `${bare}/${isIP(bare) === 4 ? 32 : 128}`);
  const domain = bare.replace(/^\*(?=\.)/, '');
  if (domain.startsWith('.')) return host.endsWith(domain);
  return host === domain || host.endsWith(`.${domain}`);
}

function inRange(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  const family = isIP(host);
  if (family === 0 || family !== isIP(network) || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const ranges = new BlockList();
  ranges.addSubnet(network, Number(bits), type);
  return ranges.check(host, type);
}
