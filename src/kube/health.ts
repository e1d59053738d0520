/** What a stream says of itself while it runs, and how it is asked; the run decides by it when enough is known. */
export interface Health {
  /**
   * What came after `since` (client ms) is not known, until it flows again: the connection is gone, or the stream is silent
   * and nobody answers whether it should be.
   */
  lost(since: number): void;
  flows(): void;
  /** Why the state has not been read yet, in words: `the server answers 503 to the list of pods`. Said at each failed try. */
  waitingFor?: ((this: void, reason: string) => void) | undefined;
  /** Nothing that came until `at` (client ms) is missing. */
  sure(at: number): void;
  /** Aborts when somebody wants to know whether the stream has brought all there is. */
  readonly doubted: AbortSignal;
  /** The answer: it has. */
  whole(): void;
}

/** For callers that do not care. Each stream has its own: Node warns on stderr of the eleventh that listens to one signal. */
export const unwatchedHealth = (): Health => ({
  lost: () => {},
  flows: () => {},
  sure: () => {},
  doubted: new AbortController().signal,
  whole: () => {},
});
