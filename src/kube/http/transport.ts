import type { Variables } from '../env.ts';
import type { Redactor } from '../redact.ts';
import { plainWire, proxyWire, secureWire, type Proxy } from './agent.ts';
import { exchange, type Exchange, type Reply, type Wire } from './exchange.ts';
import { BlockList, isIP } from 'node:net';

export interface TransportOptions {
  base: URL;
  /** The cluster's own; it goes before everything in the environment. */
  proxyUrl?: string;
  variables: Variables;
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
  const { base, variables, redactor } = options;
  const proxy = proxyOf(options);
  if (proxy !== undefined) return overFirstVersion(await proxyWire(proxy, base, redactor));
  if (base.protocol !== 'https:') return overFirstVersion(await plainWire());
  if (variables['DISABLE_HTTP2']) return overFirstVersion(await secureWire(() => undefined));
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
  variables,
}: Pick<TransportOptions, 'base' | 'proxyUrl' | 'variables'>): Proxy | undefined {
  if (proxyUrl !== undefined) return { address: proxyUrl, from: 'proxy-url in the kubeconfig' };
  const address = proxyFor(base, variables);
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

/**
 * The proxy that kubectl would use for this server, by Go's rules (golang.org/x/net/http/httpproxy): HTTPS_PROXY or
 * HTTP_PROXY by the server's scheme, upper case first, unless NO_PROXY names the host; never for the machine itself.
 */
export function proxyFor(server: URL, variables: Variables): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = read(variables, name);
  if (proxy === '') return undefined;
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  if (isLocal(host) || isExcepted(host, port, read(variables, 'NO_PROXY'))) return undefined;
  return proxy;
}

function read(variables: Variables, name: string): string {
  return variables[name] || variables[name.toLowerCase()] || '';
}

function isLocal(host: string): boolean {
  return host === 'localhost' || inRange(host, '127.0.0.0/8') || host === '::1';
}

/** NO_PROXY: `*`, addresses, CIDR ranges, domains with all below them (`.x` and `*.x`: only below), each with a port or not. */
function isExcepted(host: string, port: string, list: string): boolean {
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
  if (isIP(bare) !== 0) return bare === host;
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
