import { within, type Env } from './env.ts';

/** A line without its end, or how the stream of lines ended. */
export type LineEvent =
  /**
   * `at`: when the chunk that completed it was taken, so that a slow consumer does not make later lines late; `since`: when its
   * first bytes were taken, which is long before that on a slow link.
   */
  | { kind: 'line'; bytes: Buffer; cut: boolean; at: number; since: number }
  /** `clean`: the response ended in order. What stood after the last line end is dropped. */
  | { kind: 'end'; clean: boolean }
  /** `onLong: 'stop'` only: a line was longer than `mostBytes`. */
  | { kind: 'oversized' };

export interface LineOptions {
  mostBytes: number;
  /** A too long line is cut to `mostBytes`, or ends the reading. */
  onLong: 'cut' | 'stop';
  /** Client clock, ms. */
  now(): number;
}

/** A body, line by line. */
export interface Lines {
  /** The next line of the chunk that has been taken, if there is one: that takes no wait and no timer. */
  left(this: void): LineEvent | undefined;
  /** Resolves when a line is left, or the end; nothing comes after that. Never rejects. */
  more(this: void): Promise<void>;
}

/** The next line, or `undefined` where none came in time; a line that comes late is not lost. No promise where one is left. */
export type NextLine = (ms: number, signal: AbortSignal) => LineEvent | undefined | Promise<LineEvent | undefined>;

export const nextLineOf =
  ({ left, more }: Lines, env: Env): NextLine =>
  (ms, signal) =>
    left() ?? within(env, more(), ms, signal).then(left);

/** Splits a body at LF, holding no more than one line (and one chunk) in memory. */
export function takeLines(body: AsyncIterable<unknown>, options: LineOptions): Lines {
  const chunks = linesOfChunks(body, options);
  let left: LineEvent[] = [];
  let coming: Promise<void> | undefined;
  const come = async (): Promise<void> => {
    const { value } = await chunks.next();
    left = value ?? [{ kind: 'end', clean: true }];
    coming = undefined;
  };
  return {
    left: () => left.shift(),
    more: () => (left.length > 0 ? Promise.resolve() : (coming ??= come())),
  };
}

/** Never throws. What comes of one chunk is never empty. */
async function* linesOfChunks(body: AsyncIterable<unknown>, options: LineOptions): AsyncGenerator<LineEvent[], void> {
  const pending = pendingLine(options.mostBytes);
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

function pendingLine(mostBytes: number) {
  let parts: Buffer[] = [];
  let length = 0;
  let cut = false;
  let since: number | undefined;
  return {
    isCut: () => cut,
    add(part: Buffer, at: number): void {
      const room = mostBytes - length;
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
