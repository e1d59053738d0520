import type { OutgoingHttpHeaders } from 'node:http';
import { PodexitError } from '../../errors.ts';
import type { Body } from './body.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Transport } from './transport.ts';

/** A request whose answer is measured, not used: by a probe through the API server's proxy. */
export interface OneRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** What it takes of a client. */
interface Asker {
  base: URL;
  transport: Transport;
  credentials: Credentials;
  userAgent: string;
  env: { now(): number };
  /** Header values as the bytes that go out (client.ts). */
  inUtf8(headers: OutgoingHttpHeaders): OutgoingHttpHeaders;
}

/** Headers by which the API server knows who asks: the run's own identity alone. */
const ownHeaders = /^(?:authorization|impersonate-.*|host|connection|content-length|transfer-encoding)$/i;

/**
 * Sends it once, with the run's credentials: neither redirects nor broken connections are followed up. Expired credentials are
 * renewed, since a request that was not authenticated was not executed. Throws TransportFailure, or the abort.
 */
export async function askOnce(
  { base, transport, credentials, userAgent, env, inUtf8 }: Asker,
  { method, path, headers, signal }: OneRequest,
): Promise<{ status: number; body: Body }> {
  const url = new URL(`${base.pathname.replace(/\/+$/, '')}${path}`, base.origin);
  if (url.origin !== base.origin)
    throw new PodexitError('probe.path', 'a path leads away from the API server', 'Check --probe.');
  const asked = Object.entries(headers).filter(([name]) => !ownHeaders.test(name));
  for (let renewed = false; ; renewed = true) {
    const identity = await credentials.identify();
    const reply = await transport.exchange({
      method,
      url,
      headers: inUtf8({ accept: '*/*', ...Object.fromEntries(asked), 'user-agent': userAgent, ...identity.headers }),
      tls: identity.tls,
      signal,
      connectTimeoutMs: mostMs,
      headersTimeoutMs: mostMs,
      now: () => env.now(),
    });
    if (reply.status !== 401 || renewed || !(await credentials.renew(identity.generation))) return reply;
    reply.body.resume();
  }
}

/** ms: above any time limit of a probe, which aborts by itself. */
const mostMs = 65_000;
