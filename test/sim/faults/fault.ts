import type { Verb } from '../../../src/demo/http/api-request.ts';

/**
 * Which requests a fault affects, and when. Default: all requests, from the start, forever.
 * Times are milliseconds of the server's clock.
 */
export interface Where {
  /** A plural such as `pods`. */
  resource?: string;
  /** `log` and `evict`: requests for these subresources of a pod. */
  verb?: Verb | 'log' | 'evict';
  /** Counts from the arrival of the DELETE. Absent: the fault starts with the server. */
  afterMs?: number;
  /** How long it lasts; absent: forever. Without `afterMs`, a fault of requests counts it from the first of them. */
  forMs?: number;
  /** How many requests, streams or lines it affects; absent: all. */
  times?: number;
  /** Spares that many matching requests, streams or lines first. */
  skip?: number;
}

/** Something that goes wrong, as data. */
export type Fault = Where & FaultKind;

export type FaultKind =
  /** Destroys the connections of open streams, and with `forMs` of streams that are opened while it lasts. */
  | { kind: 'drop' }
  /** Sends the first half of a line, then destroys the connection. */
  | { kind: 'half-line' }
  /** Answers with a failure instead of serving. */
  | { kind: 'status'; code: number; reason?: string; message?: string; retryAfterSeconds?: number }
  /** Accepts the request and never answers, like a connection into a lost network. */
  | { kind: 'hang' }
  /** Compacts the history and destroys open streams: a watch that resumes gets a 410, as a frame or as a status. */
  | { kind: 'expire'; as?: 'frame' | 'status' }
  /** The stream stays open and carries nothing more (half-open). */
  | { kind: 'silent' }
  /** Lines arrive `ms` later, in their order. */
  | { kind: 'delay'; ms: number }
  /** The server does not listen, and all connections are gone. Revisions stay. */
  | { kind: 'down'; forMs: number }
  /** Readers see the state as it was at the fault's moment, or `by` changes before that. */
  | { kind: 'behind'; forMs: number; by?: number }
  /** A line is never sent, although the state has changed. */
  | { kind: 'lose' }
  /** A DELETE is executed, but the connection is destroyed before the answer. */
  | { kind: 'delete-accepted-then-cut' }
  /** The connection is destroyed before the DELETE is executed. */
  | { kind: 'delete-lost' }
  /** A DELETE is answered with 200 and the unchanged Pod; the real one happens after `thenMs`, if given. */
  | { kind: 'delete-ignored'; thenMs?: number }
  /** An admission webhook denies the DELETE. */
  | { kind: 'delete-denied' }
  /** The server closes a keep-alive connection just when a further request arrives on it. */
  | { kind: 'keepalive-race' }
  /** Sends bytes on a stream that no API server would send. */
  | { kind: 'garbage'; bytes: string };

export type FaultOf<K extends FaultKind['kind']> = Where & Extract<FaultKind, { kind: K }>;
