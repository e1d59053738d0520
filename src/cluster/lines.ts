/** A line without its end, or how the stream of lines ended. */
export type LineEvent =
  /** `at`: when the chunk that completed it was taken, so that a slow consumer does not make later lines late. */
  | { kind: 'line'; bytes: Buffer; cut: boolean; at: number }
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

/** Splits a body at LF, holding no more than one line (and one chunk) in memory. Never throws. */
export async function* readLines(body: AsyncIterable<unknown>, options: LineOptions): AsyncGenerator<LineEvent, void> {
  const pending = pendingLine(options.mostBytes);
  try {
    for await (const chunk of body) {
      const bytes = chunk as Buffer;
      const at = options.now();
      let from = 0;
      for (let to = bytes.indexOf(lineFeed); to !== -1; to = bytes.indexOf(lineFeed, from)) {
        pending.add(bytes.subarray(from, to));
        const line = pending.take();
        if (line.cut && options.onLong === 'stop') {
          yield { kind: 'oversized' };
          return;
        }
        yield { kind: 'line', ...line, at };
        from = to + 1;
      }
      pending.add(bytes.subarray(from));
      if (pending.isCut() && options.onLong === 'stop') {
        yield { kind: 'oversized' };
        return;
      }
    }
  } catch {
    yield { kind: 'end', clean: false };
    return;
  }
  yield { kind: 'end', clean: true };
}

const lineFeed = 0x0a;

function pendingLine(mostBytes: number) {
  let parts: Buffer[] = [];
  let length = 0;
  let cut = false;
  return {
    isCut: () => cut,
    add(part: Buffer): void {
      const room = mostBytes - length;
      if (part.length > room) cut = true;
      const kept = part.subarray(0, room);
      if (kept.length === 0) return;
      parts.push(kept);
      length += kept.length;
    },
    take(): { bytes: Buffer; cut: boolean } {
      const line = {
        bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts),
        cut,
      };
      parts = [];
      length = 0;
      cut = false;
      return line;
    },
  };
}
