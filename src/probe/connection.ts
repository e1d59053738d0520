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

/** Judges an answer whose body has ended, or was read far enough. */
export type Judge = (answer: Answer) => Parameters<Settle>[0];

/** A connection that takes one request at a time. */
export interface Connection {
  /** It takes another request. */
  readonly isUsable: boolean;
  exchange(request: OutgoingRequest, body: Buffer | undefined, judge: Judge, settle: Settle): Cancel;
  close(): void;
}
