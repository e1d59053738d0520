/** HTTP/2 if the server chooses it, and gRPC's health protocol over it. */
import type { Http2SecureServer, Http2Server, ServerHttp2Session } from 'node:http2';
import { createSecureServer, createServer } from 'node:http2';
import { expect, it } from 'vitest';
import { healthCheckRequest } from '../../src/probe/grpc.ts';
import { hasOpenssl, selfSigned } from '../helpers/self-signed.ts';
import { closeAll, listen, trackSockets } from './helpers/counting.ts';
import { eventually, expectFailed, kindsOf, probing, unmeasuredIn } from './helpers/probing.ts';

it.runIf(hasOpenssl)(
  'leaves out headers that HTTP/2 does not have, and fails if Node refuses another one',
  async () => {
    const { server, cert, url, close } = await secureServer();
    const seen = new Set<string>();
    server.on('request', ({ httpVersion, headers }, answer) => {
      seen.add(`${httpVersion} ${String(headers['x-shop'])}`);
      answer.end();
    });
    const headers = { connection: 'close', 'keep-alive': 'timeout=5', upgrade: 'h2c', 'x-shop': 'open' };
    const probed = await probing(url, { ca: cert, keepalive: true, headers }, (sent) => sent(12));
    const refused = await probing(url, { ca: cert, keepalive: true, headers: { te: 'gzip' } }, (sent) => sent(3));
    await close();
    expect(kindsOf(probed.result)).toEqual({});
    expect([...seen]).toEqual(['2.0 open']);
    expect(refused.result.succeeded).toBe(0);
    expect(refused.trouble?.message).toContain('ERR_HTTP2_INVALID_CONNECTION_HEADERS');
  },
);

it.runIf(hasOpenssl)(
  'loses no request to a GOAWAY, whether it completes the open requests or excludes them',
  async () => {
    const { server, cert, url, sessions, close } = await secureServer();
    let [answered, refused] = [0, 0];
    server.on('request', (_, answer) => setTimeout(() => ((answered += 1), answer.end()), 10));
    const { result } = await probing(url, { ca: cert, keepalive: true }, async (sent) => {
      await sent(10);
      // Its GOAWAY excludes all requests, even the one that it may be answering. That one is sent again.
      const open = [...sessions].filter((session) => !session.destroyed);
      refused = open.length;
      open.forEach((session) => session.goaway(0));
      await sent(20);
      sessions.forEach((session) => session.close());
      await sent(35);
    });
    await close();
    expect(kindsOf(result)).toEqual({});
    expect(result.sent).toBeLessThanOrEqual(answered);
    expect(result.sent + unmeasuredIn(result)).toBeGreaterThanOrEqual(answered - refused);
  },
);

it.runIf(hasOpenssl)('counts streams that a GOAWAY with an error cuts off', async () => {
  const { server, cert, url, close } = await secureServer();
  let [answered, cuts, isCutting] = [0, 0, false];
  server.on('request', (request, answer) => {
    if (!isCutting) {
      answered += 1;
      return void answer.end();
    }
    cuts += 1;
    setTimeout(() => request.stream.session?.destroy(undefined, 2), 5);
  });
  const { result } = await probing(url, { ca: cert }, async () => {
    await eventually(() => answered >= 5);
    isCutting = true;
    await eventually(() => cuts >= 5);
    isCutting = false;
    const before = answered;
    await eventually(() => answered >= before + 5);
  });
  await close();
  expectFailed(result, cuts);
  expect(result.succeeded).toBe(answered);
  expect(Object.keys(kindsOf(result))).toEqual(['reset']);
});

it.runIf(hasOpenssl)('counts an untrusted certificate as a TLS failure, unless the probe is insecure', async () => {
  const { server, url, close } = await secureServer();
  server.on('request', (_, answer) => answer.end());
  const { result, trouble } = await probing(url, {}, (sent) => sent(3));
  const insecure = await probing(url, { insecure: true }, (sent) => sent(3));
  await close();
  expect(Object.keys(kindsOf(result))).toEqual(['tls']);
  expect((trouble as { hint?: string }).hint).toContain('--probe-ca');
  expect(insecure.result.failed).toBe(0);
});

it('checks health over gRPC, and counts all but SERVING as failures', async () => {
  let state = 1;
  const said: Record<string, number> = { serving: 0, notServing: 0, unavailable: 0 };
  const asked = new Set<string>();
  const { port, server, close } = await plainServer();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      asked.add(`${headers[':path']} ${Buffer.concat(chunks).toString('hex')}`);
      said[state === 1 ? 'serving' : state === 2 ? 'notServing' : 'unavailable']! += 1;
      if (state === 14)
        return stream.respond(
          { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '14' },
          { endStream: true },
        );
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([0, 0, 0, 0, 2, 8, state]));
    });
  });
  const { result } = await probing(`grpc://127.0.0.1:${port}/shop.Cart`, { keepalive: true }, async () => {
    for (const [next, name] of [
      [2, 'serving'],
      [14, 'notServing'],
      [1, 'unavailable'],
    ] as const) {
      await eventually(() => said[name]! >= 6);
      state = next;
    }
    const before = said['serving']!;
    await eventually(() => said['serving']! > before);
  });
  await close();
  expect([...asked]).toEqual([`/grpc.health.v1.Health/Check ${healthCheckRequest('shop.Cart').toString('hex')}`]);
  expect(result.succeeded).toBe(said['serving']);
  expect(kindsOf(result)).toEqual({ 'not-serving': said['notServing'], 'http 14': said['unavailable'] });
});

it.each<[string, number[], failure: string | undefined]>([
  ['SERVING and a field that podexit does not know', [0, 0, 0, 0, 7, 8, 1, 0x12, 1, 0x61, 0x18, 5], undefined],
  ['no state, which means UNKNOWN', [0, 0, 0, 0, 0], 'not-serving'],
  ['less than it announced', [0, 0, 0, 0, 3, 8, 1], 'http'],
  ['a compressed message', [1, 0, 0, 0, 2, 8, 1], 'http'],
])('reads an answer of the health protocol with %s', async (_, body, failure) => {
  const { port, server, close } = await plainServer();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.from(body));
  });
  const { result, trouble } = await probing(`grpc://127.0.0.1:${port}`, {}, (sent) => sent(3));
  await close();
  expect(Object.keys(kindsOf(result))).toEqual(failure === undefined ? [] : [failure]);
  expect((trouble as { hint?: string } | undefined)?.hint).toEqual(
    failure && expect.stringContaining('SERVING to grpc.health.v1.Health/Check'),
  );
});

it('encodes the request of the health protocol like protobuf', () => {
  expect(healthCheckRequest('').toString('hex')).toBe('0000000000');
  expect(healthCheckRequest('a').toString('hex')).toBe('00000000030a0161');
  expect(healthCheckRequest('x'.repeat(300)).subarray(0, 8).toString('hex')).toBe('000000012f0aac02');
});

async function secureServer() {
  const { key, cert } = selfSigned();
  const server = createSecureServer({ key, cert, allowHTTP1: true });
  const sessions = sessionsOf(server);
  const sockets = trackSockets(server);
  const port = await listen(server);
  return { server, cert, sessions, url: `https://127.0.0.1:${port}/`, close: () => closeAll(server, sockets) };
}

async function plainServer() {
  const server = createServer();
  sessionsOf(server);
  const sockets = trackSockets(server);
  return { server, port: await listen(server), close: () => closeAll(server, sockets) };
}

function sessionsOf(server: Http2Server | Http2SecureServer): Set<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.on('close', () => sessions.delete(session));
  });
  server.on('sessionError', () => undefined);
  return sessions;
}
