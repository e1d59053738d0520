import type { Cancel, Settle } from './client.ts';

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

/** The beginning of an answer: enough to judge by, whatever else the other side goes on to send. */
export interface AnswerStart {
  /** False: it has been read far enough. */
  take(piece: Buffer): boolean;
  /** An informational answer (1xx) came before the answer. False: too many. */
  inform(): boolean;
  body(): Buffer;
}

/** The most of a body that is read; then the answer is settled and its connection closed. */
const mostBytes = 64 * 1024;
/** Each piece costs a turn: one byte at a time would keep this process busy for long. */
const mostPieces = 1024;
/** Servers send one or two. */
const mostInformational = 20;

export function createAnswerStart(): AnswerStart {
  const pieces: Buffer[] = [];
  let [bytes, informed] = [0, 0];
  return {
    take(piece) {
      bytes += piece.length;
      const isWanted = bytes <= mostBytes && pieces.length < mostPieces;
      if (isWanted) pieces.push(piece);
      return isWanted;
    },
    inform: () => (informed += 1) <= mostInformational,
    body: () => Buffer.concat(pieces),
  };
}

/** Informational answers, and never the answer. */
export const endless = (): NodeJS.ErrnoException =>
  Object.assign(new Error('informational answers without end'), { code: 'ERR_HTTP_ENDLESS' });

/** Judges an answer whose body has ended, or was read far enough. */
export type Judge = (answer: Answer) => Parameters<Settle>[0];

/** A connection that takes one request at a time. */
export interface Connection {
  /** It takes another request. */
  readonly isUsable: boolean;
  exchange(request: OutgoingRequest, body: Buffer | undefined, judge: Judge, settle: Settle): Cancel;
  close(): void;
}
