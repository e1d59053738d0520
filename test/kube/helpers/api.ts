import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Cluster } from '../../../src/kube/cluster.ts';
import type { ConnectOptions } from '../../../src/kube/connect-options.ts';
import { connect } from '../../../src/kube/connect.ts';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseKubeconfig, type Kubeconfig } from '../../../src/kube/kubeconfig/parse.ts';
import { readYaml } from '../../../src/kube/kubeconfig/yaml.ts';
import { testEnv, type TestEnv } from './env.ts';

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: http.IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
  /** Counts connections, from 1. */
  connection: number;
}

export interface Api {
  url: string;
  asked: Asked[];
  connections(): number;
}

export type Handler = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void;

/** A purpose-built API server on a free port of 127.0.0.1, closed when the test is over. */
export async function serve(handler: Handler, tls?: https.ServerOptions): Promise<Api> {
  const asked: Asked[] = [];
  const numbers = new WeakMap<object, number>();
  let connections = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://host');
      const one: Asked = {
        method: request.method ?? '',
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks).toString(),
        connection: numbers.get(request.socket) ?? 0,
      };
      asked.push(one);
      handler(one, response, request);
    });
  };
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: object) =>
    numbers.set(socket, ++connections),
  );
  const host = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return { url: `${tls === undefined ? 'http' : 'https'}://${host}`, asked, connections: () => connections };
}

/** Listens on a free port until the test is over; returns `127.0.0.1:PORT`. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A port on which nothing listens. The port of a closed server may already belong to another test. */
export const nowhere = 'http://127.0.0.1:1';

export async function tempDir(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'podexit-cluster-'));
}

/** A kubeconfig from its text, as the YAML library reads it. */
export const parsed = (text: string, file: string): Kubeconfig => parseKubeconfig(readYaml(text, file), file);

/** Writes a kubeconfig with one context; returns its path. */
export async function kubeconfigFile(cluster: object, user: object = {}): Promise<string> {
  const file = join(await tempDir(), 'config');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'shop' } }],
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

/** Connects through a kubeconfig file, as a user would. */
export async function connected(
  api: Pick<Api, 'url'> & { cluster?: object },
  options: { cluster?: object; user?: object; flags?: Partial<ConnectOptions>; env?: TestEnv } = {},
): Promise<Cluster> {
  const { user, flags, env = testEnv({ speed: 20 }) } = options;
  const kubeconfig = await kubeconfigFile({ server: api.url, ...api.cluster, ...options.cluster }, user);
  const cluster = await connect({ kubeconfig, version: '0.0.0', ...flags }, env);
  onTestFinished(() => cluster.close());
  return cluster;
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function status(code: number, reason: string, message: string, details: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code };
}

export function pod(name: string, resourceVersion: string, more: object = {}): object {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion, ...more },
  };
}

export function podList(resourceVersion: string, items: object[], more: object = {}): object {
  return { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion, ...more }, items };
}

export function line(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

export function bookmark(resourceVersion: string, initialEnd = false): string {
  const annotations = initialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  return line('BOOKMARK', { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion, ...annotations } });
}
