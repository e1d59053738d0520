import { within, type Env } from './env.ts';

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
