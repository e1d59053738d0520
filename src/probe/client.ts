/** What sends the requests of one probe, and the connections that it sends them on. */
import type { ProbeConnection } from '../model/probe-observation.ts';
import type { Result } from './result.ts';

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

/** Of a client that makes each connection anew. */
export const keepsNone = { isKeptFree: false, resent: 0, forgetKept: (): void => undefined };

export interface OutgoingRequest {
  method: string;
  /** Path and query. */
  path: string;
  /** As the Host header has it. */
  authority: string;
  scheme: 'http' | 'https';
  headers: Readonly<Record<string, string>>;
}

/** What came back: enough of it to judge. */
export interface Answer {
  status: number;
  /** The beginning of the body, for those who asked to keep it. */
  body: Buffer;
  /** `grpc-status`, from the trailers or the headers. */
  grpcStatus?: string;
}

/** The most of a body that is read; then the answer is settled and its connection closed. */
const mostBytes = 64 * 1024;
/** Each piece costs a turn: one byte at a time would keep this process busy for long. */
const mostPieces = 1024;
/** Servers send one or two. */
const mostInformational = 20;

export type AnswerStart = ReturnType<typeof createAnswerStart>;

/** The beginning of an answer: enough to judge by, whatever else the other side goes on to send. */
export function createAnswerStart() {
  const pieces: Buffer[] = [];
  let [bytes, informed] = [0, 0];
  return {
    /** False: it has been read far enough. */
    take(piece: Buffer): boolean {
      bytes += piece.length;
      const isWanted = bytes <= mostBytes && pieces.length < mostPieces;
      if (isWanted) pieces.push(piece);
      return isWanted;
    },
    /** An informational answer (1xx) came before the answer. False: too many. */
    inform: (): boolean => (informed += 1) <= mostInformational,
    body: (): Buffer => Buffer.concat(pieces),
  };
}

/** Informational answers, and never the answer. */
export const endless = (): NodeJS.ErrnoException =>
  Object.assign(new Error('informational answers without end'), { code: 'ERR_HTTP_ENDLESS' });

/** Judges an answer whose body has ended, or was read far enough. */
export type Judge = (answer: Answer) => Result;

/** A connection that takes one request at a time. */
export interface Connection {
  /** It takes another request. */
  readonly isUsable: boolean;
  exchange(request: OutgoingRequest, body: Buffer | undefined, judge: Judge, settle: Settle): Cancel;
  close(): void;
}
