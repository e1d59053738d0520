/** What `--probe TARGET` may name: an address, a Service through the API server's proxy, or the pod through its own. */
import { PodexitError } from '../errors.ts';
import type { ProbeVia } from '../model/probe-observation.ts';

export type HttpTarget = ReturnType<typeof httpTarget>;
export type TcpTarget = ReturnType<typeof tcpTarget>;
export type GrpcTarget = ReturnType<typeof grpcTarget>;
export type ProxyTarget = ReturnType<typeof behindProxy>;
export type ProbeTarget = HttpTarget | TcpTarget | GrpcTarget | ProxyTarget;

/** How one target is probed: `--probe` and the flags that go with it. */
export interface ProbeSettings {
  target: ProbeTarget;
  /** For kept and new connections together. */
  ratePerSecond: number;
  /** From sending to the end of the answer, including the time to connect. */
  timeoutMs: number;
  /** HTTP only. */
  method: string;
  /** HTTP only. May hold credentials: never shown, recorded or reported. */
  headers: Readonly<Record<string, string>>;
  /** HTTP only: statuses that count as success, both ends included. */
  expect: readonly { from: number; to: number }[];
  /** Every second request goes over one kept connection. */
  keepalive: boolean;
  /** PEM: the authorities that TLS trusts instead of the system's. */
  ca?: string;
  /** Does not verify the server's certificate. */
  insecure: boolean;
}

/** A kept connection is useless if the API server makes the connection, or if nothing is sent on it (TCP). */
export const keepsConnection = ({ target, keepalive }: ProbeSettings): boolean =>
  keepalive && (target.kind === 'http' || target.kind === 'grpc');

/** Throws PodexitError `usage.probe`. */
export function parseProbeTarget(text: string): ProbeTarget {
  if (/^https?:\/\//i.test(text)) return httpTarget(text);
  if (/^tcp:\/\//i.test(text)) return tcpTarget(text);
  if (/^grpcs?:\/\//i.test(text)) return grpcTarget(text);
  return proxyTarget(text) ?? wrong(text);
}

/** How requests reach this target, as reports name it. */
export const viaOf = ({ kind }: ProbeTarget): ProbeVia =>
  kind === 'service' ? 'service-proxy' : kind === 'pod' ? 'pod-proxy' : 'url';

function httpTarget(text: string) {
  const url = asUrl(text);
  url.hash = '';
  const path = url.pathname === '/' || url.pathname.includes('@') ? '' : url.pathname;
  return { kind: 'http' as const, url, shown: `${url.protocol}//${url.host}${path}` };
}

function tcpTarget(text: string) {
  const { host, port } = hostAndPort(text, /^tcp:/i);
  return { kind: 'tcp' as const, host, port, shown: `tcp://${inBrackets(host)}:${port}` };
}

/** gRPC's health protocol (grpc.health.v1). `service` is empty for the server as a whole. */
function grpcTarget(text: string) {
  const { host, port, path } = hostAndPort(text, /^grpcs?:/i);
  const isSecure = /^grpcs:/i.test(text);
  const service = decoded(path.slice(1)) ?? wrong(text);
  const shown = `${isSecure ? 'grpcs' : 'grpc'}://${inBrackets(host)}:${port}${service === '' ? '' : `/${service}`}`;
  return { kind: 'grpc' as const, host, port, service, isSecure, shown };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Parsed as http: for an unknown scheme, URL treats IPv6 and a missing port in another way. */
function hostAndPort(text: string, scheme: RegExp): { host: string; port: number; path: string } {
  const url = asUrl(text, text.replace(scheme, 'http:'));
  const port = /^\w+:\/\/(?:\[[^\]]*\]|[^/:?#]*):(\d+)/.exec(text)?.[1];
  if (port === undefined || url.hostname === '') throw wrongTarget(`"${shownText(text)}" names no port`, targetForms);
  return { host: withoutBrackets(url.hostname), port: Number(port), path: url.pathname };
}

const proxyForm =
  /^(service|services|svc)(?:\/(?:(https?):)?([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?))?(?::([a-z0-9-]{1,15}))?(\/.*)?$/i;

/** `service/NAME[:PORT][/path]`, `service/https:NAME:PORT`, `pod[:PORT][/path]`. */
function proxyTarget(text: string): ProxyTarget | undefined {
  if (/^pod(?:[:/]|$)/.test(text)) {
    const [, scheme, port, path] = /^pod(?:\/?(https?):)?(?::?([a-z0-9-]{1,15}))?(\/.*)?$/.exec(text) ?? [];
    return behindProxy('pod', '', scheme, port, path);
  }
  const [, kind, scheme, name, port, path] = proxyForm.exec(text) ?? [];
  return kind === undefined || name === undefined ? undefined : behindProxy('service', name, scheme, port, path);
}

/** `pod`: the one whose exit is traced, without a `name`. `port`: a number or a name; without one the server chooses. */
function behindProxy(kind: 'service' | 'pod', name: string, scheme = 'http', port: string | undefined, rest = '/') {
  // Normalized by URL: `..` and control characters cannot leave the proxy's path.
  const { pathname, search } = new URL(rest, 'http://host');
  const object = kind === 'pod' ? 'pod' : `service/${name}`;
  const shown = `${object}${port === undefined ? '' : `:${port}`}${pathname === '/' ? '' : pathname}`;
  return { kind, scheme: scheme as 'http' | 'https', name, port, path: `${pathname}${search}`, shown };
}

/** `parsed`: the target as it is parsed, if it has a scheme that URL does not know. */
function asUrl(text: string, parsed = text): URL {
  if (!URL.canParse(parsed)) throw wrongTarget(`"${shownText(text)}" is not a URL`, targetForms);
  const url = new URL(parsed);
  if (url.username !== '' || url.password !== '')
    throw wrongTarget(
      `the target at ${url.host} has a user or a password in it`,
      'Give it with --probe-header from a file or the environment.',
    );
  return url.hostname === '' ? wrong(text) : url;
}

/** A text that cannot be parsed may contain a password anywhere before an @. */
const shownText = (text: string): string => (text.includes('@') ? '…' : text.replace(/[?#].*$/s, '…').slice(0, 80));

/** A URL puts an IPv6 address in brackets, a socket does not. */
export const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');
export const inBrackets = (host: string): string => (host.includes(':') ? `[${host}]` : host);

const targetForms =
  'A target is http(s)://…, tcp://HOST:PORT, grpc://HOST:PORT[/SERVICE], service/NAME[:PORT][/PATH] or pod[:PORT][/PATH].';

const wrongTarget = (message: string, hint: string): PodexitError =>
  new PodexitError('usage.probe', `--probe: ${message}`, hint);

function wrong(text: string): never {
  throw wrongTarget(`"${shownText(text)}" is not a target`, targetForms);
}
