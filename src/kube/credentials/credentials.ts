import type { OutgoingHttpHeaders } from 'node:http';
import type { SecureContextOptions } from 'node:tls';

/** What node:https takes for a connection to the API server. */
export interface TlsOptions extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase'> {
  /** Whether the server's certificate is verified. */
  rejectUnauthorized: boolean;
  servername?: string;
}

/** Who we are, for one request. */
export interface Identity {
  headers: OutgoingHttpHeaders;
  tls: TlsOptions;
  /** Tells which of several renewals this is, so that requests side by side renew only once. */
  generation: number;
}

export interface Credentials {
  /** Resolves what the next request carries; runs a plugin or reads a file where that is due. */
  identify(): Promise<Identity>;
  /** After a 401 to a request that carried `generation`: true where there is something new to try. */
  renew(generation: number): Promise<boolean>;
}
