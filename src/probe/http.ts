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
} from './client.ts';
import { http2Connection } from './http2.ts';
import { createConnectingClient } from './connecting.ts';
import { succeeded, unexpected, type Result, closedEarly, resultOfError } from './result.ts';
import { withoutBrackets, type HttpTarget, type ProbeSettings } from './target.ts';
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
export const judgeStatus =
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
