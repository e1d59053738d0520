import type { ClientOptions } from 'ws';
import type { RawObservation } from '../model/observation.ts';
import type { Body } from './http/body.ts';
import type { Reply } from './http/exchange.ts';
import type { Env } from './env.ts';

/** A connection to one API server, as one user. Made by `connect`, shared by every stream, closed once. */
export interface Cluster {
  /** The namespace of the context (or of --namespace); `default` without one. */
  readonly namespace: string;
  readonly contextName?: string;
  /** The server's address, without credentials. */
  readonly server: string;
  /** The connection flags of this run, for commands that must reach the same cluster (connect-options.ts). */
  readonly connectionFlags: string;
  readonly env: Env;
  /** What one stream has learned about the server, shared with the others. */
  readonly memory: ClusterMemory;
  /** Reads the whole response, whatever its status. Throws TransportFailure, or PodexitError on a redirect. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** Resolves when the headers arrive; the body can then be read as a stream. Throws what `request` throws. */
  stream(request: ApiRequest): Promise<StreamedResponse>;
  /**
   * Sends a probe's request with the run's credentials. Retries only after a 401, with renewed credentials: a request
   * that was not authenticated was not executed. Throws TransportFailure, or the abort error.
   */
  sendOnce(request: SingleRequest): Promise<{ status: number; body: Body }>;
  /** How to open a WebSocket at this path, with the run's credentials and proxy; absent if there is no real connection. */
  webSocketTo?(path: string, query: URLSearchParams): Promise<{ url: URL; options: ClientOptions }>;
  /** Removes this connection's secrets from a text, such as an error or a server's message. */
  clean(text: string): string;
  /** Closes every connection. Watches and waiting retries end without an error. */
  close(): void;
  /** Aborted by `close`. */
  readonly closed: AbortSignal;
}

export interface ClusterMemory {
  /** The server has answered at least once. From then on a failed connection means an outage, not a wrong address. */
  reached: boolean;
  /** Whether the server supports streaming lists (Kubernetes >= 1.32, or 1.27 with a feature gate). */
  streamingLists: 'untried' | 'supported' | 'unsupported';
  /** The code of the last error that was printed because this machine could not open a connection. */
  reportedShortage?: string;
}

/** A request that is only measured: from a probe, through the API server's proxy. */
export interface SingleRequest {
  method: string;
  /** Includes the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the server's address, e.g. `/api/v1/namespaces/shop/pods`. */
  path: string;
  /** Without the undefined ones. */
  query?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON with a Content-Length. */
  body?: unknown;
  accept?: string;
  signal?: AbortSignal;
  /** The largest answer that is read; the default is larger than any page of a list. */
  maxBytes?: number;
  /** ms until the headers of the answer; the default is the longest time that the API server takes. */
  answerWithinMs?: number;
  /** Called each time the request goes out, before anything can come of it. */
  onSent?(sentAt: number): void;
}

export interface StreamedResponse extends Reply {
  /** The server's clock, from the answer's `Date` header: at most one raw observation. */
  dated: Extract<RawObservation, { kind: 'dated' }>[];
  /** For a 401 inside the body: true if there are new credentials to try. */
  renew(): boolean | Promise<boolean>;
}

/** `at`: when the whole body had arrived. */
export interface ApiResponse extends Omit<StreamedResponse, 'body' | 'renew'> {
  /** The parsed JSON; undefined if it is not JSON. */
  body: unknown;
}
