/** The interfaces of a probe's client and of its connections. */
import type { ProbeConnection } from '../model/probe-observation.ts';
import type { Result, LookupStage } from './result.ts';

/** Cancels a request and closes its connection. */
export type Cancel = () => LookupStage;

/** Called once; never after a cancel. `answeredAt` (monotonic, ms): set if the answer came before it was judged. */
export type Settle = (result: Result, answeredAt?: number) => void;

/** Sends the requests of one probe. Never throws. */
export interface ProbeClient {
  /** Use `kept` only while `isKeptFree`. */
  send(connection: ProbeConnection, settle: Settle): Cancel;
  /** The kept connection has no open request. */
  readonly isKeptFree: boolean;
  /** What the last `kept` request used: a new connection if none was open, or if the request was sent again. */
  readonly lastKept: ProbeConnection;
  /** Requests sent again because the server provably had not taken them: they count against the rate. */
  readonly resent: number;
  /** The next request opens a new kept connection: after a standstill nobody knows which side closed the old one. */
  forgetKept(): void;
  /** Closes the kept connection. Open requests end when they are cancelled. */
  close(): void;
}

/** For a client that makes a new connection for each request. */
export const noKeptConnection = {
  isKeptFree: false,
  lastKept: 'new' as const,
  resent: 0,
  forgetKept: (): void => undefined,
  close: (): void => undefined,
};

export interface OutgoingRequest {
  method: string;
  /** Path and query. */
  path: string;
  /** As in the Host header. */
  authority: string;
  scheme: 'http' | 'https';
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
}

/** An answer, as far as it is needed to judge it. */
export interface ProbeAnswer {
  status: number;
  /** The beginning of the body, if it was read. */
  body: Buffer;
  /** `grpc-status`, from the trailers or the headers. */
  grpcStatus?: string;
}

/** After so many bytes of the body the answer is judged and its connection closed. Headers have the same limit. */
export const maxBytes = 64 * 1024;
/** A body that is sent one byte at a time would keep this process busy for long. */
const maxBodyPieces = 1024;
/** Servers send one or two. */
const maxInformational = 20;

export type AnswerStart = ReturnType<typeof createAnswerStart>;

/** Collects the beginning of an answer: enough to judge it, however much the other side sends. */
export function createAnswerStart() {
  const pieces: Buffer[] = [];
  let [bytes, informed] = [0, 0];
  return {
    /** False: enough has been read. */
    take(piece: Buffer): boolean {
      bytes += piece.length;
      const isWanted = bytes <= maxBytes && pieces.length < maxBodyPieces;
      if (isWanted) pieces.push(piece);
      return isWanted;
    },
    /** Counts an informational answer (1xx). False: too many. */
    inform: (): boolean => (informed += 1) <= maxInformational,
    body: (): Buffer => Buffer.concat(pieces),
  };
}

/** The error for informational answers without an answer after them. */
export const endlessInformational = (): NodeJS.ErrnoException =>
  Object.assign(new Error('informational answers without end'), { code: 'ERR_HTTP_ENDLESS' });

/** Judges an answer whose body has ended, or of which enough was read. */
export type Judge = (answer: ProbeAnswer) => Result;

/** A connection that takes one request at a time. */
export interface Connection {
  /** It can take another request. */
  readonly isUsable: boolean;
  exchange(request: OutgoingRequest, judge: Judge, settle: Settle): Cancel;
  close(): void;
}
