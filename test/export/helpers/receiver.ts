/** A collector for tests. It accepts all requests, and answers as configured. */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { decodeJson, decodeProtobuf } from './otlp.ts';
import type { ReceivedTrace } from './otlp.ts';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
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
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      const isJson = request.headers['content-type'] === 'application/json';
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        traces: isJson ? decodeJson(body) : decodeProtobuf(body),
      });
      if (answer !== 'silent') response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        sockets.forEach((socket) => socket.destroy());
        server.close(() => resolve());
      }),
  };
}
