import { STATUS_CODES } from 'node:http';
import type { ProbeAnswer, ProbeClient } from './client.ts';
import { http1Connection } from './http1.ts';
import { http2Connection } from './http2.ts';
import { createConnectingClient } from './connecting.ts';
import { succeeded, unexpected, type Result } from './result.ts';
import { withoutBrackets, type HttpTarget, type ProbeSettings } from './target.ts';

/** HTTP/1.1 for http://; for https:// the server chooses between HTTP/2 and HTTP/1.1, for each connection. */
export function createHttpClient({ url }: HttpTarget, settings: ProbeSettings, userAgent: string): ProbeClient {
  const isSecure = url.protocol === 'https:';
  const tls = { ca: settings.ca, insecure: settings.insecure, protocols: ['h2', 'http/1.1'] };
  return createConnectingClient({
    address: {
      host: withoutBrackets(url.hostname),
      port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
      tls: isSecure ? tls : undefined,
    },
    request: {
      method: settings.method,
      path: `${url.pathname}${url.search}`,
      authority: settings.headers['host'] ?? url.host,
      scheme: isSecure ? 'https' : 'http',
      headers: { 'user-agent': userAgent, accept: '*/*', ...settings.headers },
    },
    judge: judgeStatus(settings),
    speak: (socket, protocol, resend) =>
      protocol === 'h2' ? http2Connection(socket, url.origin, resend) : http1Connection(socket, resend !== undefined),
  });
}

/** Judges by the status alone: the meaning of a body is known only to the application. */
export const judgeStatus =
  ({ expect }: ProbeSettings) =>
  ({ status }: ProbeAnswer): Result => {
    const said = `HTTP ${status}${STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`}`;
    const isExpected = expect.some(({ from, to }) => from <= status && status <= to);
    return isExpected ? succeeded(said) : unexpected(status, said);
  };
