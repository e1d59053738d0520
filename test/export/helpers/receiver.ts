/** A collector for tests. It accepts all requests, and answers as configured. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { decodeJson, type ReceivedTrace } from './otlp.ts';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Of JSON; the SDK alone knows how it encodes protobuf. */
  traces: ReceivedTrace[];
}

export interface Receiver {
  url: string;
  received: Received[];
  close(): Promise<void>;
}

/** `silent` accepts the request and never answers. */
export async function startReceiver(answer: number | 'silent' = 200): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      const isJson = request.headers['content-type'] === 'application/json';
      const { url: path = '', headers } = request;
      received.push({ path, headers, body, traces: isJson ? decodeJson(body) : [] });
      if (answer !== 'silent') response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
