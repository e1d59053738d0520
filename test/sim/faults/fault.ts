import type { Verb } from '../../../src/demo/http/api-request.ts';

/**
 * Which requests and when. Without any of it: every request, from the start, for ever.
 * Times are milliseconds of the server's clock.
 */
export interface Where {
  /** A plural such as `pods`. */
  resource?: string;
  /** `log` and `evict` are requests for these subresources of a pod. */
  verb?: Verb | 'log' | 'evict';
  name?: string;
  /** Counted from the beginning of the pod's end, which is the DELETE's arrival. Absent: from the server's start. */
  afterMs?: number;
  /** How long it lasts; absent: for ever. */
  forMs?: number;
  /** How many requests, streams or lines it strikes; absent: all. */
  times?: number;
  /** Spares that many matching requests, streams or lines first. */
  skip?: number;
}

/** Something that goes wrong, as data. */
export type Fault = Where & FaultKind;

export type FaultKind =
  /** Destroys the connections of open streams at its moment, and of those opened while it lasts, if `forMs` is given. */
  | { kind: 'drop' }
  /** Sends the first half of a line, then destroys the connection. */
  | { kind: 'half-line' }
  /** Answers with a failure instead of serving. */
  | { kind: 'status'; code: number; reason?: string; message?: string; retryAfterSeconds?: number }
  /** Takes the request and never answers: a connection into a network that is gone. */
  | { kind: 'hang' }
  /** Compacts the history and destroys open streams: what resumes gets a 410, as a frame or as a status. */
  | { kind: 'expire'; as?: 'frame' | 'status' }
  /** The stream stays open and carries nothing more (half-open). */
  | { kind: 'silent' }
  /** Lines arrive that much later, in their order. */
  | { kind: 'delay'; ms: number }
  /** Nobody listens; all connections are gone. Revisions stay. */
  | { kind: 'down'; forMs: number }
  /** Readers see the state as it was at the fault's moment, or `by` changes before that. */
  | { kind: 'behind'; forMs: number; by?: number }
  /** The state changes, but a line is never sent. */
  | { kind: 'lose' }
  /** 307 to another address. */
  | { kind: 'redirect'; to: string }
  /** A DELETE is executed, the connection destroyed before the answer. */
  | { kind: 'delete-accepted-then-cut' }
  /** The connection is destroyed before the DELETE is executed. */
  | { kind: 'delete-lost' }
  /** A DELETE is answered with 200 and the unchanged Pod; the real one happens after `thenMs`, if given. */
  | { kind: 'delete-ignored'; thenMs?: number }
  /** An admission webhook denies the DELETE. */
  | { kind: 'delete-denied'; webhook?: string; message?: string }
  /** The server closes the keep-alive connection just as a request arrives on it that is not the connection's first. */
  | { kind: 'keepalive-race' }
  /** Bytes on a stream that no API server would send. */
  | { kind: 'garbage'; bytes: string };

export type FaultOf<K extends FaultKind['kind']> = Where & Extract<FaultKind, { kind: K }>;
