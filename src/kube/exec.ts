/** Runs a command in a container, over a WebSocket (remotecommand v4 and v5). Loaded only for `check --inspect`. */
import WebSocket, { type RawData } from 'ws';
import { asObject } from '../model/observe/read.ts';
import type { Cluster } from './cluster.ts';
import { parseJson } from './http/body.ts';
import { withUsable } from './http/failure.ts';
import { podPath } from './resource-path.ts';

/** `failed`: the command ran and did not succeed, or could not be started; `refused`: the API server's status. */
export type ExecResult =
  | { kind: 'done'; stdout: Buffer }
  | { kind: 'failed'; message: string }
  | { kind: 'refused'; status: number; message: string };

/** Throws if the connection fails or the time runs out. */
export async function execIn(
  cluster: Cluster,
  { pod, container, command }: { pod: string; container: string; command: readonly string[] },
): Promise<ExecResult> {
  const query = new URLSearchParams([
    ['container', container],
    ['stdout', 'true'],
    ['stderr', 'true'],
  ]);
  for (const word of command) query.append('command', word);
  const address = await cluster.webSocketTo?.(`${podPath(cluster.namespace, pod)}/exec`, query);
  if (!address) return { kind: 'failed', message: 'this connection cannot be upgraded' };
  // ms; a proxy may keep the connection open after the server's close frame.
  const options = { ...address.options, closeTimeout: 1000 };
  // apimachinery pkg/util/remotecommand/constants.go: v5 is Kubernetes 1.30 and newer.
  const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
  const socket = withUsable(() => new WebSocket(address.url, protocols, options));
  // A container may never answer.
  const result = await readStreams(socket, AbortSignal.any([cluster.closed, AbortSignal.timeout(10_000)]));
  return result.kind === 'refused' ? { ...result, message: cluster.clean(result.message) } : result;
}

function messageIn(text: string): string {
  const { message } = asObject(parseJson(text));
  return typeof message === 'string' ? message : text;
}

/** The first byte of each message is its channel. */
const channels = { stdout: 1, stderr: 2, error: 3 } as const;

function readStreams(socket: WebSocket, signal: AbortSignal): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const parts: Record<number, Buffer[]> = { 1: [], 2: [], 3: [] };
    let size = 0;
    const textOf = (channel: number): string => Buffer.concat(parts[channel] ?? []).toString('utf8');
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text = (text + part).slice(0, 64 * 1024)));
      response.on('end', () =>
        resolve({ kind: 'refused', status: response.statusCode ?? 0, message: messageIn(text) }),
      );
    });
    socket.on('message', (data: RawData) => {
      // `binaryType` is nodebuffer.
      const message = data as Buffer;
      // Plenty for `/proc/1/status`, which has 2 kB.
      if ((size += message.length) <= 256 * 1024) parts[message[0] ?? 0]?.push(message.subarray(1));
    });
    socket.on('close', () => {
      const error = errorOf(textOf(channels.error));
      const stderr = textOf(channels.stderr).trim();
      if (error === undefined) resolve({ kind: 'done', stdout: Buffer.concat(parts[channels.stdout] ?? []) });
      else resolve({ kind: 'failed', message: [error, stderr].filter(Boolean).join(': ') });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server broke the protocol, for example with a frame that is too long.
      if (error.code?.startsWith('WS_ERR_')) resolve({ kind: 'failed', message: error.message });
      else reject(error);
    });
    signal.addEventListener('abort', () => (reject(signal.reason as Error), socket.terminate()), { once: true });
  });
}

/** The command's error; undefined on success. Without a Status the connection ended before the command did. */
function errorOf(text: string): string | undefined {
  if (text === '') return 'the connection ended before the command did';
  return /"status":\s*"Success"/.test(text) ? undefined : messageIn(text);
}
