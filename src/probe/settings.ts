import type { ProbeTarget } from './target.ts';

/** How one target is probed: `--probe` and the flags that go with it. */
export interface ProbeSettings {
  target: ProbeTarget;
  /** Of kept and new connections together. */
  ratePerSecond: number;
  /** From the sending to the end of the answer, connecting included. */
  timeoutMs: number;
  /** HTTP only. */
  method: string;
  /** HTTP only. May hold credentials: never shown, recorded or reported. */
  headers: Readonly<Record<string, string>>;
  /** HTTP only: statuses that count as success, both ends included. */
  expect: readonly { from: number; to: number }[];
  /** Every second request goes over one kept connection. */
  keepalive: boolean;
  /** PEM: the authorities that TLS trusts instead of the system's. */
  ca?: string;
  /** TLS verifies nothing. */
  insecure: boolean;
}

/** The one connection that clients keep means nothing where the API server connects, or where nothing is sent on it. */
export const keepsConnection = ({ target, keepalive }: ProbeSettings): boolean =>
  keepalive && (target.kind === 'http' || target.kind === 'grpc');

export const isExpected = ({ expect }: ProbeSettings, status: number): boolean =>
  expect.some(({ from, to }) => from <= status && status <= to);
