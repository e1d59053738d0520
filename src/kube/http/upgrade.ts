/** One WebSocket to the API server, on a connection of its own: HTTP/1.1, since an Upgrade exists only there. */
import { randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from '../credentials/credentials.ts';
import { plainWire, proxyWire, secureWire } from './agent.ts';
import { socketHost, socketPort } from './failure.ts';
import { proxyOf, type TransportOptions } from './transport.ts';

export interface UpgradeRequest {
  url: URL;
  headers: OutgoingHttpHeaders;
  tls: TlsOptions;
  signal: AbortSignal;
}

/** `socket` where the server switched protocols (101); else its answer's status and text. */
export type Upgraded = { socket: Duplex; head: Buffer } | { status: number; text: string };

/** Rejects where no connection stands, and with the signal's reason. */
export async function upgrade(
  transport: TransportOptions,
  { url, headers, tls, signal }: UpgradeRequest,
): Promise<Upgraded> {
  const proxy = proxyOf(transport);
  const isSecure = url.protocol === 'https:';
  const wire = proxy
    ? await proxyWire(proxy, transport.base, transport.redactor)
    : isSecure
      ? await secureWire(() => undefined)
      : await plainWire();
  return new Promise((resolve, reject) => {
    const request = wire.request({
      protocol: url.protocol,
      hostname: socketHost(url),
      port: socketPort(url),
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      agent: wire.agent,
      signal,
      headers: {
        ...headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'sec-websocket-protocol': 'v5.channel.k8s.io, v4.channel.k8s.io',
      },
      ...(isSecure ? tls : {}),
    });
    request.on('upgrade', (_response, socket, head) => resolve({ socket, head }));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text = (text + part).slice(0, 64 * 1024)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end();
  });
}
