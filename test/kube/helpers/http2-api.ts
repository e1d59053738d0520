import type { Http2ServerRequest, Http2ServerResponse, SecureServerOptions, ServerHttp2Session } from 'node:http2';
import { createSecureServer } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listen } from './api.ts';
import { certificates, trusting, type TrustingCluster } from './certificates.ts';

export interface Http2Asked {
  method: string;
  path: string;
  headers: Http2ServerRequest['headers'];
  body: string;
  /** `2.0` or `1.1`. */
  version: string;
  /** Counts connections, from 1. */
  connection: number;
}

export interface Http2Api {
  url: string;
  /** The kubeconfig's cluster entry for this server. */
  cluster: TrustingCluster;
  asked: Http2Asked[];
  sessions: ServerHttp2Session[];
  /** Destroys every connection, without a GOAWAY. */
  cut(): void;
}

export type Http2Handler = (asked: Http2Asked, response: Http2ServerResponse, request: Http2ServerRequest) => void;

/** An API server that offers HTTP/2, as real ones do; closed when the test is over. */
export async function serveHttp2(handler: Http2Handler, options: SecureServerOptions = {}): Promise<Http2Api> {
  const made = await certificates();
  const asked: Http2Asked[] = [];
  const sessions: ServerHttp2Session[] = [];
  const sockets = new Set<Socket>();
  const numbers = new Map<object, number>();
  const server = createSecureServer({ ...made.server, allowHTTP1: true, ...options }, (request, response) => {
    const chunks: Buffer[] = [];
    const connection = request.httpVersion === '2.0' ? request.stream.session : request.socket;
    if (connection && !numbers.has(connection)) numbers.set(connection, numbers.size + 1);
    if (request.httpVersion === '2.0') request.stream.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one: Http2Asked = {
        method: request.method,
        path: request.url.replace(/\?.*/, ''),
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        version: request.httpVersion,
        connection: numbers.get(connection ?? request) ?? 0,
      };
      asked.push(one);
      handler(one, response, request);
    });
  });
  server.on('session', (session) => sessions.push(session));
  server.on('sessionError', () => undefined);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  const host = await listen(server);
  const cut = () => sockets.forEach((socket) => socket.destroy());
  onTestFinished(cut);
  return {
    url: `https://${host}`,
    cluster: trusting(made.ca),
    asked,
    sessions,
    cut,
  };
}

export function answer(response: Http2ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** A network between client and server that silently drops everything once it is frozen. */
export async function freezable(api: Pick<Http2Api, 'url'>): Promise<{ url: string; freeze(): void }> {
  const ends: Socket[] = [];
  const proxy = createServer((near) => {
    const far = connect(Number(new URL(api.url).port), '127.0.0.1');
    ends.push(near, far);
    for (const end of [near, far]) end.on('error', () => undefined);
    near.pipe(far).pipe(near);
  });
  const host = await listen(proxy);
  onTestFinished(() => ends.forEach((end) => end.destroy()));
  return { url: `https://${host}`, freeze: () => ends.forEach((end) => end.unpipe().pause()) };
}
