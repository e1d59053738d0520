/** What a stream says of itself while it runs, and how it is asked; for whoever decides when enough is known. */
export interface Health {
  /** The connection is gone: what came after `since` (client ms) is not known, until it flows again. */
  lost(since: number): void;
  flows(): void;
  /** Aborts when somebody wants to know whether the stream has told all there is. */
  readonly doubted: AbortSignal;
  /** The answer: it has (or the server would not say). */
  whole(): void;
}

/** For whoever does not care. Each stream has its own: Node warns on stderr of the eleventh that listens to one signal. */
export const untold = (): Health => ({
  lost: () => {},
  flows: () => {},
  doubted: new AbortController().signal,
  whole: () => {},
});
