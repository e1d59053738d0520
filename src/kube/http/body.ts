import { PodexitError } from '../../errors.ts';
import { TransportFailure } from './failure.ts';
import { within, type Env } from '../env.ts';

/** The body of an answer, as a stream. Reading throws if the connection breaks. */
export interface Body extends AsyncIterable<unknown> {
  /** Discards the rest. */
  resume(): unknown;
  /** Aborts the answer, and with HTTP/1.1 its connection. */
  destroy(): unknown;
}

/** ms without a byte inside an answer, in real time, as for all sockets. The API server ends a request after 60 s. */
export const maxSilenceMs = 65_000;

/**
 * Reads the whole body as JSON; undefined if it is not JSON. Throws TransportFailure if the connection breaks, PodexitError
 * `server.endless-answer` beyond `maxBytes` (by default more than any page of a list has), and the abort error.
 */
export async function readJson(
  body: Body,
  signal: AbortSignal | undefined,
  maxBytes = 256 * 2 ** 20,
): Promise<unknown> {
  const silence = setTimeout(() => body.destroy(), maxSilenceMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      silence.refresh();
      bytes += (chunk as Buffer).length;
      // Leaving the loop destroys the body.
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (signal?.aborted || isTooLarge(error)) throw error;
    const options = { sent: true, code: 'ECONNRESET', cause: error };
    throw new TransportFailure('the connection broke in the middle of the answer', options);
  } finally {
    clearTimeout(silence);
  }
  return parseJson(Buffer.concat(chunks).toString('utf8'));
}

const tooLarge = (maxBytes: number): PodexitError =>
  new PodexitError(
    tooLargeCode,
    `a response of the API server is too large: more than ${maxBytes / 2 ** 20} MiB`,
    'Check the proxy or gateway in front of the API server; compare with: kubectl get --raw',
  );

export const isTooLarge = (error: unknown): error is PodexitError =>
  error instanceof PodexitError && error.code === tooLargeCode;

const tooLargeCode = 'server.endless-answer';

/** Undefined if it is not JSON, or nested too deeply for the parser. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * A line without its line break. `at`: when the chunk that completed the line was read, so that a slow consumer does not
 * make later lines late. `since`: when its first bytes were read, which is much earlier on a slow link. `cut`: it was
 * longer than `maxBytes`.
 */
type Line = { kind: 'line'; bytes: Buffer; cut: boolean; at: number; since: number };

/** A line, or how the stream of lines ended. `clean`: normally. An incomplete last line is dropped. */
export type LineEvent = Line | { kind: 'end'; clean: boolean };

/**
 * The next line; undefined if none came in `ms` (a late one is not lost), or on abort. For a line that was already read
 * there is neither a promise nor a timer. Nothing comes after the end. Never rejects.
 */
export type NextLine = (
  ms: number | undefined,
  signal?: AbortSignal,
) => LineEvent | undefined | Promise<LineEvent | undefined>;

/** Splits a body at LF, holding no more than one line (and one chunk) in memory. */
export function takeLines(body: AsyncIterable<unknown>, env: Env, maxBytes: number): NextLine {
  const chunks = body[Symbol.asyncIterator]();
  const split = createSplitter(maxBytes);
  let buffered: LineEvent[] = [];
  let reading: Promise<void> | undefined;
  /** Reads on until a line has ended, or all. */
  const read = async (): Promise<void> => {
    while (buffered.length === 0) {
      const chunk = await chunks.next().catch(() => undefined);
      buffered =
        !chunk || chunk.done ? [{ kind: 'end', clean: chunk !== undefined }] : split(chunk.value as Buffer, env.now());
    }
    reading = undefined;
  };
  const take = (): LineEvent | undefined => buffered.shift();
  return (ms, signal) => take() ?? within(env, (reading ??= read()), ms, signal).then(take);
}

const lineFeed = 0x0a;

/** The lines that end in each chunk. A line that is too long ends where it is cut; the rest of it is skipped. */
export function createSplitter(maxBytes: number): (chunk: Buffer, at: number) => Line[] {
  let parts: Buffer[] = [];
  let length = 0;
  let since: number | undefined;
  let isSkipping = false;
  return (chunk, at) => {
    const lines: Line[] = [];
    const end = (cut: boolean): void => {
      const [only = Buffer.alloc(0)] = parts;
      const bytes = parts.length > 1 ? Buffer.concat(parts) : only;
      if (!isSkipping) lines.push({ kind: 'line', bytes, cut, at, since: since ?? at });
      [parts, length, since, isSkipping] = [[], 0, undefined, cut];
    };
    const add = (part: Buffer): void => {
      if (isSkipping || part.length === 0) return;
      since ??= at;
      parts.push(part.subarray(0, maxBytes - length));
      length += part.length;
      if (length > maxBytes) end(true);
    };
    let from = 0;
    for (let to = chunk.indexOf(lineFeed); to !== -1; to = chunk.indexOf(lineFeed, from)) {
      add(chunk.subarray(from, to));
      end(false);
      from = to + 1;
    }
    add(chunk.subarray(from));
    return lines;
  };
}
