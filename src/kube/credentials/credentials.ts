import type { OutgoingHttpHeaders } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import type { ClusterEntry, UserEntry } from '../kubeconfig/kubeconfig.ts';
import type { Redactor } from '../redact.ts';
import type { Env } from '../env.ts';

/** What node:https takes for a connection to the API server. */
export interface TlsOptions extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase'> {
  /** Whether the server's certificate is verified. */
  rejectUnauthorized: boolean;
  servername?: string;
}

/** What authenticates one request. */
export interface Identity {
  headers: OutgoingHttpHeaders;
  tls: TlsOptions;
  /** The number of the renewal, so that requests side by side renew only once. */
  generation: number;
}

export interface Credentials {
  /** Resolves what the next request carries; runs a plugin or reads a file where that is due. */
  identify(): Promise<Identity>;
  /** After a 401 to a request that carried `generation`: true where there is something new to try. */
  renew(generation: number): Promise<boolean>;
}

/** What a source of credentials gives for the next request. */
export interface Proof {
  /** For `Authorization: Bearer`. */
  token?: string;
  authorization?: string;
  cert?: string;
  key?: string;
}

/** One way to authenticate. */
export interface Source {
  prove(): Promise<Proof>;
  /** After a 401: forget what is cached. False where nothing can be renewed. */
  forget(): boolean;
}

export interface ResolveOptions {
  cluster: ClusterEntry & { server: string };
  user: UserEntry;
  env: Env;
  redactor: Redactor;
  /** Aborted when the cluster is closed: a plugin is no longer waited for. */
  closed: AbortSignal;
}
