import type { IncomingHttpHeaders } from 'node:http';
import type { RawObservation } from '../model/observation.ts';
import type { Body } from './http/body.ts';
import type { Upgraded } from './http/upgrade.ts';
import type { Env } from './env.ts';

/** A connection to one API server, as one user. Made by `connect`, shared by every stream, closed once. */
export interface Cluster {
  /** The namespace of the context (or of --namespace); `default` without one. */
  readonly namespace: string;
  readonly contextName?: string;
  /** The server's address, without credentials. */
  readonly server: string;
  /** The connection flags of this run, each with a blank before it: for commands that must reach the same cluster (connect-options.ts). */
  readonly reach: string;
  readonly env: Env;
  /** What one stream has learnt and the others need not learn again. */
  readonly memory: ClusterMemory;
  /** Reads the whole response, whatever its status. Throws TransportFailure, or PodexitError on a redirect. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** Hands over the body as it comes. Its throws are those of `request`. */
  stream(request: ApiRequest): Promise<StreamedResponse>;
  /**
   * Sends a request of a probe, with the run's credentials. Expired ones are renewed, since a request that was not
   * authenticated was not executed; nothing else is tried again. Throws TransportFailure, or the abort.
   */
  sendOnce(request: SingleRequest): Promise<{ status: number; body: Body }>;
  /** Opens a WebSocket at a path, with the credentials of this connection; absent where a source has no connection. */
  upgrade?(path: string, query: URLSearchParams, signal: AbortSignal): Promise<Upgraded>;
  /** A text (an error's, a server's) without the secrets of this connection. */
  clean(text: string): string;
  /** Ends every connection, and quietly all that watches, or waits to ask again. */
  close(): void;
  /** Aborts with `close`. */
  readonly closed: AbortSignal;
}

export interface ClusterMemory {
  /** The server has answered at least once: from then on a failing connection is a bad moment, not a wrong address. */
  reached: boolean;
  /** Whether the server gives streaming lists (Kubernetes >= 1.32, or 1.27 with a feature gate). */
  streamingLists: 'untried' | 'given' | 'withheld';
  /** The last shortage of this machine that was reported (http/client.ts): Node's code. */
  shortOf?: string;
}

/** A request whose answer is measured, not used: by a probe through the API server's proxy. */
export interface SingleRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the server's address, e.g. `/api/v1/namespaces/shop/pods`. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** Sent as JSON with a Content-Length. */
  body?: unknown;
  accept?: string;
  signal?: AbortSignal;
  /** The largest answer that is read; absent: larger than any page of a list. */
  mostBytes?: number;
  /** ms until the headers of the answer; absent: as long as the API server itself takes at most. */
  answerWithinMs?: number;
  /** Called as the request goes out (again, where it has to go out again), before anything can come of it. */
  onSent?(sentAt: number): void;
}

interface Head {
  status: number;
  headers: IncomingHttpHeaders;
  /** Client clock, ms: not later than the moment the request left. */
  sentAt: number;
  /** Client clock, ms: when the headers (of a StreamedResponse) or the whole body (of an ApiResponse) had arrived. */
  at: number;
  /** The server's clock, where the answer carried a `Date`: none or one raw observation. */
  dated: RawObservation[];
}

export interface ApiResponse extends Head {
  /** The parsed JSON, or undefined where it was none. */
  body: unknown;
}

export interface StreamedResponse extends Head {
  body: Body;
  /** After a 401 that came inside the body: true where there are other credentials to try. */
  renew(): Promise<boolean>;
}
