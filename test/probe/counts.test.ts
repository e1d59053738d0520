/** A probe's counts match those of servers that count too, and its windows match the times of failures. */
import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { closeAll, counting, listen, trackSockets } from './helpers/counting.ts';
import { eventually, kindsOf, probing, unmeasuredIn } from './helpers/probing.ts';

it('counts unanswered requests as timeouts, dated by their sending', async () => {
  let [answered, unanswered, isSilent] = [0, 0, false];
  const server = await counting((_, answer) => {
    if (isSilent) unanswered += 1;
    else answer.end(() => (answered += 1));
  });
  let to = 0;
  const { result } = await probing(server.url, { timeoutMs: 3000 }, async () => {
    await eventually(() => answered >= 8);
    isSilent = true;
    await eventually(() => unanswered >= 8);
    [isSilent, to] = [false, Date.now()];
    await eventually(() => answered >= 20);
  });
  await server.close();
  const { timeout = 0, ...others } = kindsOf(result);
  expect(others).toEqual({});
  // A standstill of this process hides some.
  expect(timeout + unmeasuredIn(result)).toBeGreaterThanOrEqual(unanswered);
  for (const { end } of result.windows) expect(end).toBeLessThan(to + 2000);
});

it('continues to send while answers are slow, and measures their latency', async () => {
  let [open, most] = [0, 0];
  const server = await counting((_, answer) => {
    most = Math.max(most, (open += 1));
    setTimeout(() => ((open -= 1), answer.end()), 400);
  });
  const { result } = await probing(server.url, { keepalive: true }, () => eventually(() => most > 10));
  await server.close();
  expect(result.failed).toBe(0);
  expect(result.latencyMs.before?.p50).toBeGreaterThan(385);
});

it('detects a half-open kept connection, and counts it separately from new ones', async () => {
  let [isHalfOpen, unanswered, kept] = [false, 0, 0];
  const server = await counting((request, answer) => {
    const isKept = request.headers.connection === 'keep-alive';
    if (isKept && isHalfOpen) return void (unanswered += 1);
    kept += isKept ? 1 : 0;
    answer.end();
  });
  const { result } = await probing(server.url, { keepalive: true, timeoutMs: 2000 }, async (sent) => {
    await eventually(() => kept >= 3);
    isHalfOpen = true;
    await eventually(() => unanswered > 0);
    isHalfOpen = false;
    // The broken connection is given up.
    const before = kept;
    await eventually(() => kept >= before + 2);
    await sent(20);
  });
  await server.close();
  expect((result.kept?.failed ?? 0) + unmeasuredIn(result)).toBeGreaterThanOrEqual(unanswered);
  expect(Object.keys(kindsOf(result)).filter((kind) => kind !== 'timeout')).toEqual([]);
});

it('does not count a kept connection that was closed while idle as a failure', async () => {
  const server = await counting((_, answer) => answer.end());
  const { result } = await probing(server.url, { keepalive: true, ratePerSecond: 10 }, async (sent) => {
    await sent(8);
    server.sockets.forEach((socket) => socket.end());
    await sent(16);
  });
  await server.close();
  expect(result.failed).toBe(0);
  expect(result.kept?.sent).toBeGreaterThan(2);
});

it('reads that a server closed the kept connection before it sends on it, even after a busy moment', async () => {
  // A worker answers while this process is busy.
  const worker = new Worker(closingServer, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const busy = setInterval(() => {
    const until = performance.now() + 60;
    while (performance.now() < until);
  }, 70);
  const { result } = await probing(`http://127.0.0.1:${port}/`, { keepalive: true }, (sent) => sent(40));
  clearInterval(busy);
  await worker.terminate();
  expect(kindsOf(result)).toEqual({});
});

it('does not use a kept connection again that was idle for a second, since the server may be closing it', async () => {
  const server = await counting((_, answer) => answer.end());
  const { result } = await probing(server.url, { keepalive: true, ratePerSecond: 1.5 }, (sent) => sent(4));
  await server.close();
  expect(result.kept).toEqual({ sent: 0, failed: 0 });
  expect(result.sent).toBeGreaterThan(3);
});

it('reads 64 kB of a body of 10 MB, and closes it', async () => {
  let written = 0;
  const big = Buffer.alloc(64 * 1024);
  const server = await counting((_, answer) => {
    answer.writeHead(200, { 'content-length': 160 * big.length });
    const write = (): void => {
      while (written < 1e9 && answer.writable && !answer.destroyed) {
        written += big.length;
        if (!answer.write(big)) return void answer.once('drain', write);
      }
    };
    write();
  });
  const { result } = await probing(server.url, { ratePerSecond: 5 }, (sent) => sent(4));
  await server.close();
  expect(result.failed).toBe(0);
  expect(result.sent).toBeGreaterThan(3);
  expect(written / result.sent).toBeLessThan(8 * 1024 * 1024);
});

it('takes headers of 40 kB as an answer', async () => {
  const server = await counting((_, answer) => answer.writeHead(200, { 'set-cookie': 'a'.repeat(40_000) }).end());
  const { result } = await probing(server.url, { keepalive: true }, (sent) => sent(9));
  await server.close();
  expect(kindsOf(result)).toEqual({});
  expect(result.sent).toBeGreaterThan(8);
});

it('counts garbage as a missing HTTP answer, and a redirect as an answer', async () => {
  const garbage = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  const sockets = trackSockets(garbage);
  const port = await listen(garbage);
  const { result } = await probing(`http://127.0.0.1:${port}/`, {}, (sent) => sent(5));
  await closeAll(garbage, sockets);
  expect(result.succeeded).toBe(0);
  expect(Object.keys(kindsOf(result))).toEqual(['http']);

  const redirecting = await counting((_, answer) => answer.writeHead(302, { location: 'http://192.0.2.1/' }).end());
  const redirected = await probing(redirecting.url, {}, (sent) => sent(5));
  await redirecting.close();
  expect(redirected.result.failed).toBe(0);
});

it('reports a name that does not resolve', async () => {
  const { result, trouble } = await probing('http://nowhere.invalid/', { ratePerSecond: 10 }, (sent) => sent(1));
  expect(Object.keys(kindsOf(result))).toEqual(['dns']);
  expect(trouble?.message).toContain('its name does not resolve');
});

it('probes over IPv6', async () => {
  const server = await counting((_, answer) => answer.end(), '::1');
  const { result } = await probing(server.url, {}, (sent) => sent(5));
  await server.close();
  expect(result.failed).toBe(0);
  expect(result.sent).toBeGreaterThan(8);
});

it('connects over TCP: a port that accepts, one that accepts and closes at once, one that is closed', async () => {
  let [accepted, dead, isDead] = [0, 0, false];
  const server = createTcpServer((socket) => {
    accepted += 1;
    if (!isDead) return;
    dead += 1;
    socket.destroy();
  });
  const sockets = trackSockets(server);
  const port = await listen(server);
  const { result } = await probing(`tcp://127.0.0.1:${port}`, {}, async (sent) => {
    await eventually(() => accepted >= 8);
    isDead = true;
    await eventually(() => dead >= 12);
    await closeAll(server, sockets);
    await sent(accepted + 8);
  });
  const { refused = 0, reset = 0 } = kindsOf(result);
  // A connection may wait in the backlog while the port closes: it was established, but the server never accepts it.
  expect(result.sent - refused).toBeLessThanOrEqual(accepted + 1);
  expect(result.sent + unmeasuredIn(result) - refused).toBeGreaterThanOrEqual(accepted);
  expect(reset).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(5);
  expect(result.kept).toBeUndefined();
});

/** Closes each connection a little after its first answer. */
const closingServer = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:http').createServer({ keepAliveTimeout: 60_000 }, ({ socket }, answer) => {
    answer.end();
    setTimeout(() => socket.end(), 20);
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;
