/** A target behind the API server: `services/NAME/proxy` and `pods/NAME/proxy`, with the run's own credentials. */
import { createAnswerStart, noKeptConnection, type Judge, type OutgoingRequest, type ProbeClient } from './client.ts';
import { judgeStatus } from './http.ts';
import { failed, unexpected, type Result } from './result.ts';
import type { ProbeSettings, ProxyTarget } from './target.ts';

export interface ProxiedPod {
  name: string;
  uid: string;
}

/** Sends one request to the API server, without redirects and retries. Rejects if it gives no answer itself. */
export type ProxyRequest = (
  request: Pick<OutgoingRequest, 'method' | 'path' | 'headers'> & { signal: AbortSignal },
) => Promise<{ status: number; body: AsyncIterable<unknown> }>;

interface ProxyContext {
  namespace: string;
  pod?: ProxiedPod;
  ask: ProxyRequest;
}

export function createProxiedClient(target: ProxyTarget, settings: ProbeSettings, context: ProxyContext): ProbeClient {
  const path = proxyPath(target, context);
  const judge = judgeStatus(settings);
  return {
    ...noKeptConnection,
    send(_connection, settle) {
      const abort = new AbortController();
      const { method, headers } = settings;
      void context
        .ask({ method, path, headers, signal: abort.signal })
        .then(async ({ status, body }) => judgeProxied(await readStart(body), status, judge))
        .catch((error: Error): Result => ({ kind: 'not-measured', reason: 'api-server', said: error.message }))
        .then((result) => {
          if (!abort.signal.aborted) settle(result);
        });
      return () => void abort.abort();
    },
  };
}

function proxyPath({ kind, scheme, name, port, path }: ProxyTarget, { namespace, pod }: ProxyContext): string {
  const object = kind === 'pod' ? (pod?.name ?? '') : name;
  const prefix = scheme === 'https' ? 'https:' : '';
  // With a scheme but no port, the port stays empty (apimachinery, net.SplitSchemeNamePort).
  const suffix = port === undefined ? (prefix === '' ? '' : ':') : `:${port}`;
  return `/api/v1/namespaces/${namespace}/${kind === 'pod' ? 'pods' : 'services'}/${prefix}${object}${suffix}/proxy${path}`;
}

/** Leaving the loop closes the answer. */
async function readStart(body: AsyncIterable<unknown>): Promise<Buffer> {
  const start = createAnswerStart();
  for await (const piece of body) if (!start.take(piece as Buffer)) break;
  return start.body();
}

/**
 * If the API server reaches no backend, it says why in a Status (k8s.io/apimachinery proxy, "error trying to reach
 * service: dial tcp …"). Its own refusals (too many requests, expired credentials) are not failures of the target.
 */
function judgeProxied(body: Buffer, status: number, judge: Judge): Result {
  const message = statusMessage(body);
  if (message === undefined) return judge({ status, body });
  const cause = failureCauses.find(([form]) => form.test(message))?.[1];
  if (cause !== undefined) return failed(cause, `HTTP ${status}: ${message}`, { status });
  if (status === 429 || status === 401) return { kind: 'not-measured', reason: 'api-server', said: `HTTP ${status}` };
  return unexpected(status, `HTTP ${status}: ${message}`);
}

const failureCauses = [
  [/^error trying to reach service: .*(?:connection refused|no route to host)/, 'refused'],
  [/^error trying to reach service: .*(?:i\/o timeout|deadline exceeded|Client\.Timeout|timed? ?out)/, 'timeout'],
  [/^error trying to reach service: .*no such host/, 'dns'],
  [/^error trying to reach service: .*(?:tls:|x509:)/, 'tls'],
  [/^error trying to reach service: .*(?:EOF|reset by peer|broken pipe|closed)/, 'reset'],
] as const;

/** Undefined if the body is not a Status of the API server. */
function statusMessage(body: Buffer): string | undefined {
  if (body[0] !== 0x7b && body[0] !== 0x65) return undefined;
  const text = body.toString('utf8');
  // Older servers send only the message.
  if (text.startsWith('error trying to reach service: ')) return text.slice(0, 300);
  try {
    const { kind, apiVersion, status, message } = JSON.parse(text) as Record<string, unknown>;
    const isStatus = kind === 'Status' && apiVersion === 'v1' && status === 'Failure' && typeof message === 'string';
    return isStatus ? message.slice(0, 300) : undefined;
  } catch {
    return undefined;
  }
}
