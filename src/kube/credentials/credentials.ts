import type { OutgoingHttpHeaders } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import type { ServerEntry, UserEntry } from '../kubeconfig/parse.ts';
import type { Redactor } from '../redact.ts';
import type { Env } from '../env.ts';

/** The TLS options of a connection to the API server, as node:https takes them. */
export interface TlsOptions extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase'> {
  /** Whether the server's certificate is verified. */
  rejectUnauthorized: boolean;
  servername?: string;
}

/** What authenticates one request. */
export interface Identity {
  headers: OutgoingHttpHeaders;
  tls: TlsOptions;
  /** After a 401 to that request: true if there are new credentials to try. Concurrent requests renew only once. */
  renew(this: void): boolean;
}

/** The credentials for the next request. Runs a plugin or reads a file if necessary. */
export type Identify = () => Promise<Identity>;

export interface Credential {
  /** The header: a scheme, a space and the secret. */
  authorization?: string;
  cert?: string;
  key?: string;
}

export interface CredentialSource {
  getCredential(): Promise<Credential>;
  /** Drops the cached credentials, after a 401. False if they cannot be renewed. */
  forget(): boolean;
}

export interface ResolveOptions {
  cluster: ServerEntry;
  user: UserEntry;
  env: Env;
  redactor: Redactor;
  /** Aborted when the cluster is closed, which ends a running plugin. */
  closed: AbortSignal;
}
