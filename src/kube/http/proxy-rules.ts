import { BlockList, isIP } from 'node:net';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that kubectl would use for this server, by Go's rules (golang.org/x/net/http/httpproxy): HTTPS_PROXY or
 * HTTP_PROXY by the server's scheme, upper case first, unless NO_PROXY names the host; never for the machine itself.
 */
export function proxyFor(server: URL, env: Env): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = read(env, name);
  if (proxy === '') return undefined;
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  if (isLocal(host) || isExcepted(host, port, read(env, 'NO_PROXY'))) return undefined;
  return proxy;
}

function read(env: Env, name: string): string {
  return env[name] || env[name.toLowerCase()] || '';
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
