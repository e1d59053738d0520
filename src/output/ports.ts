/** What printing needs from the process around it. */

/** The clock of a run. The caller provides it, so that a test can let a minute pass in a millisecond. */
export interface Clock {
  /** Whole ms since the epoch, rounded down; never goes back. */
  now(): number;
  /** Calls back once after `ms`; returns a function that cancels. */
  setTimeout(callback: () => void, ms: number): () => void;
}

/** An output stream. Writing to a closed one does nothing. */
export interface Output {
  write(text: string): void;
  readonly isTty: boolean;
  /** 80 if the terminal does not say, which `hasSize` tells. */
  columns(): number;
  hasSize?(): boolean;
  rows(): number;
  onResize(listener: () => void): () => void;
  /** Calls back before Ctrl-Z suspends this process; returns an unsubscribe function. */
  onSuspend(listener: () => void): () => void;
  /** Bytes that the reader has not taken yet. */
  waiting?(): number;
  /** Resolves when the reader goes away (EPIPE), otherwise never. */
  readonly closed: Promise<void>;
}

export interface OutputPorts {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly platform: string;
  readonly version: string;
}
