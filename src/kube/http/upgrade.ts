/** Opens a WebSocket to the API server, on a separate HTTP/1.1 connection, since HTTP/2 has no Upgrade. */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { openRequest, type Exchange, type Wire } from './exchange.ts';

type UpgradeRequest = Pick<Exchange, 'url' | 'headers' | 'tls'> & { signal: AbortSignal };

/** `socket` if the server switched protocols (101); else the status and text of its answer. */
export type Upgraded = { socket: Duplex; head: Buffer } | { status: number; text: string };

/** Rejects if no connection is made, and with the signal's reason. Throws PodexitError `auth.unusable`. */
export function upgrade(wire: Wire, { url, headers, tls, signal }: UpgradeRequest): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const webSocket = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': randomBytes(16).toString('base64'),
      'sec-websocket-protocol': 'v5.channel.k8s.io, v4.channel.k8s.io',
    };
    const request = openRequest(wire, { method: 'GET', url, headers: { ...headers, ...webSocket }, tls, signal });
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
