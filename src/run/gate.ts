import type { Clock } from './clock.ts';

/** Waits until every expected lane is open. StreamHealth may be expected while the wait is on. */
export interface Gate {
  expect(lane: string): void;
  open(lane: string): void;
  /** The streams that are expected, and not open yet. */
  shut(): string[];
  /** The streams that are still shut when `ms` have passed (or the signal aborts). */
  wait(clock: Clock, ms: number, signal: AbortSignal): Promise<string[]>;
}

export function createGate(): Gate {
  const shut = new Set<string>();
  const opened = new Set<string>();
  let check = (): void => {};
  return {
    expect: (lane) => void (opened.has(lane) ? undefined : shut.add(lane)),
    open: (lane) => {
      shut.delete(lane);
      opened.add(lane);
      check();
    },
    shut: () => [...shut],
    wait: (clock, ms, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          check = () => {};
          cancel();
          signal.removeEventListener('abort', done);
          resolve([...shut]);
        };
        const cancel = clock.setTimeout(done, ms);
        signal.addEventListener('abort', done, { once: true });
        check = () => void (shut.size === 0 && done());
        check();
      }),
  };
}
