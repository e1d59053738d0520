import { within, type Env } from './env.ts';

/** A line without its line break, or how the stream of lines ended. */
export type LineEvent =
  /**
   * `at`: when the chunk that completed the line was read, so that a slow consumer does not make later lines late.
   * `since`: when its first bytes were read, which is much earlier on a slow link.
   */
  | { kind: 'line'; bytes: Buffer; cut: boolean; at: number; since: number }
  /** `clean`: the response ended normally. An incomplete last line is dropped. */
  | { kind: 'end'; clean: boolean }
  /** Only with `onLong: 'stop'`: a line was longer than `maxBytes`. */
  | { kind: 'oversized' };

export interface LineOptions {
  maxBytes: number;
  /** Whether a line that is too long is cut to `maxBytes`, or ends the reading. */
  onLong: 'cut' | 'stop';
  /** Client clock, ms. */
  now(): number;
}

/** A body, line by line. */
export interface Lines {
  /** The next line that was already read, if any: without a wait, and without a timer. */
  takeLine(this: void): LineEvent | undefined;
  /** Resolves when a line or the end can be taken; nothing comes after the end. Never rejects. */
  untilLine(this: void): Promise<void>;
}

/** The next line; `undefined` if none came in time (a late one is not lost). No promise for a line already read. */
export type NextLine = (ms: number, signal: AbortSignal) => LineEvent | undefined | Promise<LineEvent | undefined>;

export const nextLineOf =
  ({ takeLine, untilLine }: Lines, env: Env): NextLine =>
  (ms, signal) =>
    takeLine() ?? within(env, untilLine(), ms, signal).then(takeLine);

/** Splits a body at LF, holding no more than one line (and one chunk) in memory. */
export function takeLines(body: AsyncIterable<unknown>, options: LineOptions): Lines {
  const chunks = linesOfChunks(body, options);
  let buffered: LineEvent[] = [];
  let reading: Promise<void> | undefined;
  const readChunk = async (): Promise<void> => {
    const { value } = await chunks.next();
    buffered = value ?? [{ kind: 'end', clean: true }];
    reading = undefined;
  };
  return {
    takeLine: () => buffered.shift(),
    untilLine: () => (buffered.length > 0 ? Promise.resolve() : (reading ??= readChunk())),
  };
}

/** Never throws. Yields no empty arrays. */
async function* linesOfChunks(body: AsyncIterable<unknown>, options: LineOptions): AsyncGenerator<LineEvent[], void> {
  const pending = pendingLine(options.maxBytes);
  try {
    for await (const chunk of body) {
      const lines = linesOf(chunk as Buffer, pending, options);
      if (lines.length > 0) yield lines;
      if (lines.at(-1)?.kind === 'oversized') return;
    }
  } catch {
    yield [{ kind: 'end', clean: false }];
  }
}

function linesOf(bytes: Buffer, pending: ReturnType<typeof pendingLine>, { onLong, now }: LineOptions): LineEvent[] {
  const at = now();
  const lines: LineEvent[] = [];
  let from = 0;
  for (let to = bytes.indexOf(lineFeed); to !== -1; to = bytes.indexOf(lineFeed, from)) {
    pending.add(bytes.subarray(from, to), at);
    const line = pending.take();
    if (line.cut && onLong === 'stop') return [...lines, { kind: 'oversized' }];
    lines.push({ kind: 'line', ...line, since: line.since ?? at, at });
    from = to + 1;
  }
  pending.add(bytes.subarray(from), at);
  return pending.isCut() && onLong === 'stop' ? [...lines, { kind: 'oversized' }] : lines;
}

const lineFeed = 0x0a;

function pendingLine(maxBytes: number) {
  let parts: Buffer[] = [];
  let length = 0;
  let cut = false;
  let since: number | undefined;
  return {
    isCut: () => cut,
    add(part: Buffer, at: number): void {
      const room = maxBytes - length;
      if (part.length > room) cut = true;
      const kept = part.subarray(0, room);
      if (kept.length === 0) return;
      since ??= at;
      parts.push(kept);
      length += kept.length;
    },
    take(): { bytes: Buffer; cut: boolean; since?: number } {
      const line = { bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts), cut, since };
      since = undefined;
      parts = [];
      length = 0;
      cut = false;
      return line;
    },
  };
}
