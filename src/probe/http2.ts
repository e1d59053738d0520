import {
  connect,
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import {
  createAnswerStart,
  endlessInformational,
  type Cancel,
  type Connection,
  type Judge,
  type OutgoingRequest,
  type Settle,
} from './client.ts';
import { closedEarly, resultOfError, type Result } from './result.ts';

/** Sends a request again if the server did not take it before its GOAWAY (RFC 9113 §8.7): nothing is lost. */
type Resend = (settle: Settle) => Cancel;

/** HTTP/2 on an open connection. `resend` sends a request that was provably not taken on another one. */
export function http2Connection(socket: Socket, origin: string, resend: Resend | undefined): Connection {
  let lastTakenId = Infinity;
  let broken: NodeJS.ErrnoException | undefined;
  const session = connect(origin, { createConnection: () => socket, settings: { enablePush: false } });
  session.on('goaway', (_code: number, lastStreamId: number) => (lastTakenId = lastStreamId));
  session.on('error', (error: NodeJS.ErrnoException) => (broken = error));
  const isUsable = (): boolean => !session.closed && !session.destroyed && !socket.destroyed;

  return {
    get isUsable() {
      return isUsable();
    },
    exchange(request, judge, settle) {
      const stream = session.request(headOf(request), { endStream: request.body === undefined });
      const answer = readAnswer(stream, judge);
      let cancelResent: Cancel | undefined;
      let isCancelled = false;
      stream.on('close', () => {
        if (isCancelled) return;
        const { result, error } = answer();
        if (result) return settle(result);
        const wasTaken = stream.id !== undefined && stream.id <= lastTakenId;
        if (resend && (!wasTaken || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM))
          return void (cancelResent = resend(settle));
        settle(resultOfError(broken ?? asReset(error) ?? closedEarly()));
      });
      stream.end(request.body);
      return () => {
        isCancelled = true;
        stream.close(constants.NGHTTP2_CANCEL);
        session.destroy();
        return cancelResent?.();
      };
    },
    close: () => session.destroy(),
  };
}

/** RFC 9113 §8.2.2: these have no meaning in HTTP/2, which has `:authority` for `host`. */
const http1Headers = new Set(['host', 'connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

function headOf({ method, path, authority, scheme, headers }: OutgoingRequest): OutgoingHttpHeaders {
  const others = Object.fromEntries(Object.entries(headers).filter(([name]) => !http1Headers.has(name)));
  return { ':method': method, ':path': path, ':authority': authority, ':scheme': scheme, ...others };
}

/** Reads the answer. Call the result when the stream is closed. */
function readAnswer(stream: ClientHttp2Stream, judge: Judge): () => { result?: Result; error?: NodeJS.ErrnoException } {
  const start = createAnswerStart();
  let status = 0;
  let grpcStatus: string | undefined;
  let error: NodeJS.ErrnoException | undefined;
  let result: Result | undefined;
  const judged = (): void => void (result ??= judge({ status, body: start.body(), grpcStatus }));
  stream.on('headers', () => {
    if (!start.inform()) stream.destroy(endlessInformational());
  });
  stream.on('response', (answer: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
    status = Number(answer[':status']);
    grpcStatus = answer['grpc-status'] as string | undefined;
  });
  stream.on('trailers', (trailers: IncomingHttpHeaders) => {
    grpcStatus ??= trailers['grpc-status'] as string | undefined;
  });
  stream.on('data', function read(piece: Buffer) {
    if (start.take(piece)) return;
    stream.off('data', read);
    judged();
    stream.close(constants.NGHTTP2_CANCEL);
  });
  stream.on('error', (why: NodeJS.ErrnoException) => (error = why));
  return () => {
    // If the connection breaks, Node ends the stream as if it were complete; `rstCode` tells the difference.
    if (stream.rstCode === constants.NGHTTP2_NO_ERROR && status !== 0) judged();
    return { result, error };
  };
}

/** Node's error for a stream that the server reset means a reset, not an invalid answer. */
const asReset = (error: NodeJS.ErrnoException | undefined): NodeJS.ErrnoException | undefined =>
  error?.code === 'ERR_HTTP2_STREAM_ERROR' || error?.code === 'ERR_HTTP2_SESSION_ERROR' ? closedEarly() : error;
