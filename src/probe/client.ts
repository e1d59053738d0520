import type { NotMeasuredReason, ProbeConnection, ProbeFailureKind } from '../model/probe-observation.ts';

/** What one request came to. `said`: what the target answered, or Node said of it, in a few words. */
export type Result =
  | { kind: 'succeeded'; said: string }
  /** `isAnswer`: something came back, so it has a latency. */
  | { kind: 'failed'; failure: ProbeFailureKind; status?: number; isAnswer: boolean; said: string }
  | { kind: 'not-measured'; reason: NotMeasuredReason; said: string };

/** Gives a request up, and its connection with it. `dns`: it still waited for an address. */
export type Cancel = () => 'dns' | undefined;

/** Called once, or never after a cancel. `answeredAt` (monotonic, ms): where the answer was there before it was judged. */
export type Settle = (result: Result, answeredAt?: number) => void;

/** Sends the requests of one probe. Nothing of it throws. */
export interface ProbeClient {
  /** `kept` only while `isKeptFree`. */
  send(connection: ProbeConnection, settle: Settle): Cancel;
  /** The kept connection has no request on its way. */
  readonly isKeptFree: boolean;
  /** Requests that were sent once more, since the first time they were provably not taken: they count against the rate. */
  readonly resent: number;
  /** Makes a new kept connection for the next request: after a standstill nobody knows who gave the old one up. */
  forgetKept(): void;
  close(): void;
}

export const succeeded = (said: string): Result => ({ kind: 'succeeded', said });
