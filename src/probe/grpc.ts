/**
 * gRPC's health protocol (grpc.health.v1.Health/Check) over Node's own HTTP/2. A gRPC library would hide what is
 * measured: it retries by itself, and while it backs off it fails calls that it never sent. Each message has one field.
 */
import type { ProbeAnswer, ProbeClient } from './client.ts';
import { http2Connection } from './http2.ts';
import { createConnectingClient } from './connecting.ts';
import { failed, succeeded, unexpected, type Result } from './result.ts';
import { inBrackets, type GrpcTarget, type ProbeSettings } from './target.ts';

export function createGrpcClient(target: GrpcTarget, settings: ProbeSettings, userAgent: string): ProbeClient {
  const { host, port, isSecure } = target;
  const scheme = isSecure ? 'https' : 'http';
  const authority = `${inBrackets(host)}:${port}`;
  const headers = { ...settings.headers, 'content-type': 'application/grpc', te: 'trailers', 'user-agent': userAgent };
  const body = healthCheckRequest(target.service);
  const tls = isSecure ? { ca: settings.ca, insecure: settings.insecure, protocols: ['h2'] } : undefined;
  return createConnectingClient({
    address: { host, port, tls },
    request: { method: 'POST', path: '/grpc.health.v1.Health/Check', authority, scheme, headers, body },
    judge: judgeHealth,
    speak: (socket, _protocol, resend) => http2Connection(socket, `${scheme}://${authority}`, resend),
  });
}

/** Length-prefixed, uncompressed: HealthCheckRequest { string service = 1 }. */
export function healthCheckRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const field = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(field.length, 1);
  return Buffer.concat([prefix, field]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

const servingStates = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

function judgeHealth({ status, body, grpcStatus }: ProbeAnswer): Result {
  if (status !== 200) return unexpected(status, `HTTP ${status}`);
  if (grpcStatus === undefined) return failed('http', 'no gRPC answer');
  if (grpcStatus !== '0') return unexpected(Number(grpcStatus) || 2, `gRPC status ${Number(grpcStatus) || 2}`);
  const state = servingState(body);
  if (state === undefined) return failed('http', 'no gRPC answer');
  return state === 'SERVING' ? succeeded(state) : failed('not-serving', state, { isAnswer: true });
}

/** Reads HealthCheckResponse { enum status = 1 }, length-prefixed; undefined if it is cut off or compressed. */
function servingState(body: Buffer): string | undefined {
  const [isCompressed, length] = body.length < 5 ? [1, 0] : [body[0], body.readUInt32BE(1)];
  const message = body.subarray(5, 5 + length);
  if (isCompressed !== 0 || message.length < length) return undefined;
  // Fields are written in the order of their numbers, and not at all if they are 0.
  const [tag, state = 0] = message;
  return servingStates[tag === 8 ? state : 0] ?? 'UNKNOWN';
}
