/** Runs a command in a container, over a WebSocket (remotecommand v4 and v5). Loaded only for `check --inspect`. */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { asObject } from '../model/observe/read.ts';
import type { Cluster } from './cluster.ts';
import { parseJson } from './http/body.ts';
import { podPath } from './resource-path.ts';

/** `failed`: the command ran and did not succeed, or could not be started; `refused`: the API server's status. */
export type ExecResult =
  | { kind: 'done'; stdout: Buffer }
  | { kind: 'failed'; message: string }
  | { kind: 'refused'; status: number; message: string };

/** A container may never answer. */
const timeoutMs = 10_000;

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
  const signal = AbortSignal.any([cluster.closed, AbortSignal.timeout(timeoutMs)]);
  const opened = await cluster.upgrade?.(`${podPath(cluster.namespace, pod)}/exec`, query, signal);
  if (!opened) return { kind: 'failed', message: 'this connection cannot be upgraded' };
  if (!('socket' in opened))
    return { kind: 'refused', status: opened.status, message: cluster.clean(messageIn(opened.text)) };
  return readStreams(opened.socket, opened.head, signal);
}

function messageIn(text: string): string {
  const { message } = asObject(parseJson(text));
  return typeof message === 'string' ? message : text;
}

/** The first byte of each message is its channel. */
const channels = { stdout: 1, stderr: 2, error: 3 } as const;
/** Plenty for `/proc/1/status`, which has 2 kB. */
const maxOutputBytes = 256 * 1024;

function readStreams(socket: Duplex, head: Buffer, signal: AbortSignal): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const parts: Record<number, Buffer[]> = { 1: [], 2: [], 3: [] };
    let rest = Buffer.from(head);
    let size = 0;
    const textOf = (channel: number): string => Buffer.concat(parts[channel] ?? []).toString('utf8');
    const finish = (): void => {
      socket.destroy();
      const error = errorOf(textOf(channels.error));
      const stderr = textOf(channels.stderr).trim();
      if (error === undefined) resolve({ kind: 'done', stdout: Buffer.concat(parts[channels.stdout] ?? []) });
      else resolve({ kind: 'failed', message: [error, stderr].filter(Boolean).join(': ') });
    };
    const take = (chunk: Buffer): void => {
      rest = Buffer.concat([rest, chunk]);
      for (let frame = frameIn(rest); frame; frame = frameIn(rest)) {
        rest = Buffer.from(rest.subarray(frame.length));
        if (frame.opcode === 9) socket.write(maskedFrame(10, frame.payload));
        if (frame.opcode === 8) return finish();
        const [channel = 0] = frame.payload;
        if (frame.opcode <= 2 && (size += frame.payload.length) <= maxOutputBytes)
          parts[channel]?.push(frame.payload.subarray(1));
      }
    };
    signal.addEventListener('abort', () => (socket.destroy(), reject(signal.reason as Error)), { once: true });
    socket.on('error', reject).on('end', finish).on('close', finish).on('data', take);
    take(Buffer.alloc(0));
  });
}

/** The command's error; undefined on success. Without a Status the connection ended before the command did. */
function errorOf(text: string): string | undefined {
  if (text === '') return 'the connection ended before the command did';
  return /"status":\s*"Success"/.test(text) ? undefined : messageIn(text);
}

interface Frame {
  opcode: number;
  payload: Buffer;
  /** Bytes of the whole frame. */
  length: number;
}

/** The first frame; undefined until it is complete. RFC 6455 §5.2: a server's frames are not masked. */
function frameIn(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return undefined;
  const size = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < start + size) return undefined;
  return { opcode: bytes.readUInt8(0) & 0x0f, payload: bytes.subarray(start, start + size), length: start + size };
}

/** A client's frames are masked (§5.3). */
function maskedFrame(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const body = payload.subarray(0, 125).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | body.length]), mask, body]);
}
