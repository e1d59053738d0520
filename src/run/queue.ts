/**
 * Many producers, one consumer. `put` resolves when its item has been taken, so a stream never runs ahead of us; once
 * the consumer has left, at once.
 */
export interface Queue<T> extends AsyncIterable<T> {
  put(item: T): Promise<void>;
  /** No more items; those that are in still come out. */
  end(): void;
  /** The consumer gets this error once everything before it came out. */
  fail(error: unknown): void;
}

export function createQueue<T>(): Queue<T> {
  const waiting: { item: T; taken: () => void }[] = [];
  let finished: { error?: unknown } | undefined;
  let wake = (): void => {};

  async function* drain(): AsyncGenerator<T> {
    try {
      for (;;) {
        const next = waiting[0];
        if (next) {
          yield next.item;
          waiting.shift();
          next.taken();
        } else if (finished) {
          if ('error' in finished) throw finished.error;
          return;
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      finished ??= {};
      waiting.splice(0).forEach(({ taken }) => taken());
    }
  }

  const finish = (how: { error?: unknown }): void => {
    finished ??= how;
    wake();
  };
  return {
    put: (item) =>
      finished
        ? Promise.resolve()
        : new Promise((taken) => {
            waiting.push({ item, taken });
            wake();
          }),
    end: () => finish({}),
    fail: (error) => finish({ error }),
    [Symbol.asyncIterator]: drain,
  };
}
