/** HTTP requests of a probe: to the target itself, or through the API server's proxy. */
import { STATUS_CODES, Agent, request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import {
  type ProbeAnswer,
  type ProbeClient,
  createAnswerStart,
  endlessInformational,
  maxBytes,
  type AnswerStart,
  type Connection,
  type Judge,
  type OutgoingRequest,
  type Settle,
  noKeptConnection,
} from './client.ts';
import { http2Connection } from './http2.ts';
import { createConnectingClient } from './connecting.ts';
import { succeeded, unexpected, type Result, closedEarly, resultOfError, failed } from './result.ts';
import { withoutBrackets, type HttpTarget, type ProbeSettings, type ProxyTarget } from './target.ts';
import type { Socket } from 'node:net';

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
const judgeStatus =
  ({ expect }: ProbeSettings) =>
  ({ status }: ProbeAnswer): Result => {
    const said = `HTTP ${status}${STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`}`;
    const isExpected = expect.some(({ from, to }) => from <= status && status <= to);
    return isExpected ? succeeded(said) : unexpected(status, said);
  };

/** HTTP/1.1 on an open connection. `isKept`: it stays open between requests; otherwise the server is asked to close it. */
function http1Connection(socket: Socket, isKept: boolean): Connection {
  const agent = isKept ? oneSocketAgent(socket) : undefined;
  let isFresh = true;
  return {
    get isUsable() {
      if (socket.destroyed || !socket.writable || socket.readableEnded) return false;
      return isFresh || (agent !== undefined && Object.keys(agent.freeSockets).length > 0);
    },
    exchange(outgoing, judge, settle) {
      isFresh = false;
      const request = open(outgoing, socket, agent);
      let isDone = false;
      const finish: Settle = (result) => {
        if (!isDone) settle(result);
        isDone = true;
      };
      const start = createAnswerStart();
      request.on('information', () => {
        if (!start.inform()) request.destroy(endlessInformational());
      });
      request.on('response', (answer) => readAnswer(answer, start, judge, finish));
      request.on('upgrade', (answer, upgraded) => {
        finish(judge({ status: answer.statusCode ?? 0, body: start.body() }));
        upgraded.destroy();
      });
      request.on('error', (error) => finish(resultOfError(error)));
      request.end(outgoing.body);
      return () => {
        request.destroy();
        socket.destroy();
        return undefined;
      };
    },
    close() {
      agent?.destroy();
      socket.destroy();
    },
  };
}

function open({ method, path, authority, headers }: OutgoingRequest, socket: Socket, agent?: Agent): ClientRequest {
  const all = { host: authority, connection: agent ? 'keep-alive' : 'close', ...headers };
  // Node's own limit is a quarter of it, and some servers send more in cookies alone.
  const options = { method, path, headers: all, maxHeaderSize: maxBytes };
  return sendRequest({ ...options, ...(agent ? { agent } : { createConnection: () => socket }) });
}

/** An agent with this socket only: Node's agent knows when a connection is free again. */
function oneSocketAgent(socket: Socket): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 }) as Agent & { createConnection(): Socket };
  agent.createConnection = () => socket;
  return agent;
}

function readAnswer(answer: IncomingMessage, start: AnswerStart, judge: Judge, finish: Settle): void {
  const judged = (): void => finish(judge({ status: answer.statusCode ?? 0, body: start.body() }));
  answer.on('data', function read(piece: Buffer) {
    if (start.take(piece)) return;
    // The parser may still deliver data that it holds.
    answer.off('data', read);
    judged();
    answer.destroy();
  });
  answer.on('end', judged);
  answer.on('error', (error) => finish(resultOfError(error)));
  answer.on('close', () => finish(resultOfError(closedEarly())));
}

export interface ProxiedPod {
  name: string;
  uid: string;
}

/** Sends one request to the API server, without redirects and retries. Rejects if it gives no answer itself. */
export type ProxyRequest = (
  request: Pick<OutgoingRequest, 'method' | 'path' | 'headers'> & { signal: AbortSignal },
) => Promise<{ status: number; body: AsyncIterable<unknown> }>;

export interface ProxyContext {
  namespace: string;
  /** The pod that the target `pod` means. */
  pod?: ProxiedPod;
  /** Sends a request to the API server, for `service/…` and `pod`. */
  ask: ProxyRequest;
}

/** A target behind the API server: `services/NAME/proxy` and `pods/NAME/proxy`, with the run's own credentials. */
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
