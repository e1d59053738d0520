import type { Clock } from '../../../src/demo/clock.ts';
import type { Stream } from '../../../src/demo/http/exchange.ts';
import type { FaultKind, FaultOf } from './fault.ts';

type Mangle<K extends FaultKind['kind']> = (
  fault: FaultOf<K>,
  stream: Stream,
  line: string,
  send: (line: string) => void,
  queue: Queue,
) => void;

/** Faults that change what a stream carries. */
export const onLine: { [K in FaultKind['kind']]?: Mangle<K> } = {
  lose: () => {},
  'half-line': (_, stream, line) => {
    stream.exchange.raw(line.slice(0, Math.ceil(line.length / 2)), () => stream.exchange.cut());
  },
  garbage: ({ bytes }, stream, line, send) => {
    stream.exchange.raw(bytes);
    send(line);
  },
  delay: ({ ms }, stream, line, send, queue) => queue.later(stream, ms, () => send(line)),
};

/** Lines of a stream that wait; none overtakes another, whether it was delayed itself or not. */
export interface Queue {
  later(stream: Stream, ms: number, send: () => void): void;
  isWaiting(stream: Stream): boolean;
  stop(): void;
}

export function createQueue(clock: Clock): Queue {
  const waiting = new WeakMap<Stream, { lines: number; lastDue: number }>();
  const cancels = new Set<() => void>();
  return {
    isWaiting: (stream) => (waiting.get(stream)?.lines ?? 0) > 0,
    later(stream, ms, send) {
      const mine = waiting.get(stream) ?? { lines: 0, lastDue: 0 };
      waiting.set(stream, mine);
      mine.lines += 1;
      mine.lastDue = Math.max(mine.lastDue, clock.now() + ms);
      const cancel = clock.setTimeout(() => {
        cancels.delete(cancel);
        mine.lines -= 1;
        send();
      }, mine.lastDue - clock.now());
      cancels.add(cancel);
    },
    stop: () => cancels.forEach((cancel) => cancel()),
  };
}
