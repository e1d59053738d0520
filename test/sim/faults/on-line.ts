import type { DemoClock } from '../../../src/demo/clock.ts';
import type { Call, Stream } from '../../../src/demo/http/exchange.ts';
import type { FaultKind, FaultOf } from './fault.ts';

type Mangle<K extends FaultKind['kind']> = (
  fault: FaultOf<K>,
  stream: Stream,
  line: string,
  send: (line: string) => void,
  queue: Queue,
) => void;

/** `opened` gets each stream of a call when its headers are sent, and `outgoing` each line: it sends it now, late, or not at all. */
export function interceptStreams(
  call: Call,
  opened: (stream: Stream) => void,
  outgoing: (stream: Stream, line: string, send: (line: string) => void) => void = (_, line, send) => send(line),
): void {
  const { stream: open } = call;
  call.stream = (contentType) => {
    const stream = open(contentType);
    const { line: send } = stream;
    stream.line = (line) => outgoing(stream, line, send);
    opened(stream);
    return stream;
  };
}

/** Faults that change what a stream carries. */
export const onLine: { [K in FaultKind['kind']]?: Mangle<K> } = {
  lose: () => {},
  'half-line': (_, stream, line) => {
    stream.exchange.response.write(line.slice(0, Math.ceil(line.length / 2)), () => stream.exchange.cut());
  },
  garbage: ({ bytes }, stream, line, send) => {
    stream.exchange.response.write(bytes);
    send(line);
  },
  delay: ({ ms }, stream, line, send, queue) => queue.later(stream, ms, () => send(line)),
};

/** Delayed lines of streams. No line overtakes an earlier one, delayed or not. */
export interface Queue {
  later(stream: Stream, ms: number, send: () => void): void;
  isWaiting(stream: Stream): boolean;
  stop(): void;
}

export function createQueue(clock: DemoClock): Queue {
  const waiting = new WeakMap<Stream, { lines: number; lastDue: number }>();
  const cancels = new Set<() => void>();
  return {
    isWaiting: (stream) => (waiting.get(stream)?.lines ?? 0) > 0,
    later(stream, ms, send) {
      const entry = waiting.get(stream) ?? { lines: 0, lastDue: 0 };
      waiting.set(stream, entry);
      entry.lines += 1;
      entry.lastDue = Math.max(entry.lastDue, clock.now() + ms);
      const cancel = clock.setTimeout(() => {
        cancels.delete(cancel);
        entry.lines -= 1;
        send();
      }, entry.lastDue - clock.now());
      cancels.add(cancel);
    },
    stop: () => cancels.forEach((cancel) => cancel()),
  };
}
