import type { Api, Handler } from './api.ts';
import { serve } from './api.ts';
import { certificates } from './certificates.ts';

export interface TlsApi extends Api {
  /** What a kubeconfig says of this server. */
  cluster: { 'certificate-authority-data': string };
}

/** An API server that gets to see credentials: without TLS none are sent. */
export async function serveTls(handler: Handler): Promise<TlsApi> {
  const { server, ca } = await certificates();
  const api = await serve(handler, server);
  return { ...api, cluster: { 'certificate-authority-data': Buffer.from(ca).toString('base64') } };
}
