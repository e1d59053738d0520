import { STATUS_CODES } from 'node:http';
import type { Answer, OutgoingRequest, ProbeClient } from './client.ts';
import { http1Connection } from './http1.ts';
import { http2Connection } from './http2.ts';
import { createConnectingClient } from './connecting.ts';
import { succeeded, unexpected, type Result } from './result.ts';
import { isExpected, withoutBrackets, type HttpTarget, type ProbeSettings } from './target.ts';

/** HTTP/1.1 for http://; for https:// the server chooses between HTTP/2 and HTTP/1.1, for each connection. */
export function createHttpClient({ url }: HttpTarget, settings: ProbeSettings, userAgent: string): ProbeClient {
  const isSecure = url.protocol === 'https:';
  const headers = { 'user-agent': userAgent, accept: '*/*', ...settings.headers };
  const request: OutgoingRequest = {
    method: settings.method,
    path: `${url.pathname}${url.search}`,
    authority: settings.headers['host'] ?? url.host,
    scheme: isSecure ? 'https' : 'http',
    headers,
  };
  const tls = { ca: settings.ca, insecure: settings.insecure, protocols: ['h2', 'http/1.1'] };
  return createConnectingClient({
    address: {
      host: withoutBrackets(url.hostname),
      port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
      tls: isSecure ? tls : undefined,
    },
    speak: (socket, protocol, resend) =>
      protocol === 'h2' ? http2Connection(socket, url.origin, resend) : http1Connection(socket, resend !== undefined),
    ask: (connection, settle) => connection.exchange(request, undefined, judgeStatus(settings), settle),
  });
}

/** Judges by the status alone: the meaning of a body is known only to the application. */
export const judgeStatus =
  (settings: ProbeSettings) =>
  ({ status }: Answer): Result => {
    const said = `HTTP ${status}${STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`}`;
    return isExpected(settings, status) ? succeeded(said) : unexpected(status, said);
  };
