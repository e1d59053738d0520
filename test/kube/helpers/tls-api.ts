import type { Api, Handler } from './api.ts';
import { serve } from './api.ts';
import { certificates } from './certificates.ts';

export interface TlsApi extends Api {
  /** The kubeconfig's cluster entry for this server. */
  cluster: { 'certificate-authority-data': string };
}

/** An API server with TLS: without it no credentials are sent. */
export async function serveTls(handler: Handler): Promise<TlsApi> {
  const { server, ca } = await certificates();
  const api = await serve(handler, server);
  return { ...api, cluster: { 'certificate-authority-data': Buffer.from(ca).toString('base64') } };
}
