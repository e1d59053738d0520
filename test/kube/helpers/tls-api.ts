import type { ServerOptions } from 'node:https';
import { serve, type Api, type Handler } from './api.ts';
import { certificates, trusting, type TrustingCluster } from './certificates.ts';

export interface TlsApi extends Api {
  /** The kubeconfig's cluster entry for this server. */
  cluster: TrustingCluster;
}

/** An API server with TLS: without it no credentials are sent. */
export async function serveTls(handler: Handler, options: ServerOptions = {}): Promise<TlsApi> {
  const { server, ca } = await certificates();
  return { ...(await serve(handler, { ...server, ...options })), cluster: trusting(ca) };
}
