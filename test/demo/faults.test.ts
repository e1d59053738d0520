import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../sim/faults/fault.ts';
import { open, send } from './helpers/client.ts';
import { playing } from './helpers/playing.ts';
import { settle } from './helpers/virtual-clock.ts';

/** Opens a watch of all pods on a server with these faults. */
async function watching(...faults: Fault[]) {
  const run = await playing('graceful-exit', { faults });
  const { body } = await send(run.pods);
  const revision = body.metadata.resourceVersion!;
  const stream = await open(`${run.pods}?watch=1&resourceVersion=${revision}&timeoutSeconds=600`);
  return { ...run, stream, revision };
}

async function remove({ pod, clock }: Awaited<ReturnType<typeof watching>>, ms: number) {
  const answer = send(pod, { method: 'DELETE' });
  await clock.advance(ms);
  return answer;
}

it('a dropped stream breaks at the given time, and no other stream does', async () => {
  const run = await watching({ kind: 'drop', resource: 'pods', verb: 'watch', afterMs: 1_000 });
  const events = await open(`${run.base}/events?watch=1`);
  await remove(run, 900);
  const seen = run.stream.lines.length;
  expect(seen).toBeGreaterThan(0);
  await run.clock.advance(200);
  await expect(run.stream.ended).rejects.toThrow();
  const resumed = await open(
    `${run.pods}?watch=1&resourceVersion=${run.stream.frames().at(-1)!.object.metadata.resourceVersion}`,
  );
  await run.clock.advance(4_000);
  expect(resumed.frames().at(-1)?.type).toBe('DELETED');
  const before = events.lines.length;
  expect(before).toBeGreaterThan(seen);
  events.close();
});

describe('a watch line', () => {
  it('can be cut in the middle, and is sent completely to a watch that resumes', async () => {
    const run = await watching({ kind: 'half-line', resource: 'pods', verb: 'watch', skip: 1 });
    await remove(run, 100);
    await expect(run.stream.ended).rejects.toThrow();
    expect(run.stream.lines).toHaveLength(1);
    expect(run.stream.rest()).toMatch(/^\{"type":"MODIFIED"/);
    expect(() => JSON.parse(run.stream.rest()) as unknown).toThrow();
    const last = run.stream.frames()[0]!.object.metadata.resourceVersion;
    const resumed = await open(`${run.pods}?watch=1&resourceVersion=${last}`);
    await resumed.until((lines) => lines.length > 0);
    expect(resumed.lines[0]!.startsWith(run.stream.rest())).toBe(true);
  });

  it('can be garbage that no server sends', async () => {
    const run = await watching({ kind: 'garbage', verb: 'watch', bytes: '\u0000\u001b]0;x\u0007not json\n' });
    await remove(run, 100);
    expect(run.stream.lines[0]).toBe('\u0000\u001b]0;x\u0007not json');
    expect(run.stream.lines[1]).toMatch(/^\{"type":"MODIFIED"/);
  });

  it('can be lost although the state changed', async () => {
    const run = await watching({ kind: 'lose', resource: 'pods', verb: 'watch' });
    await remove(run, 5_000);
    const first = run.stream.frames()[0]!.object.metadata;
    const whole = await open(`${run.pods}?watch=1&resourceVersion=${run.revision}`);
    await whole.until((lines) => lines.length > run.stream.lines.length);
    expect(whole.lines.slice(1)).toEqual(run.stream.lines);
    expect(first.resourceVersion).toBe(whole.frames()[1]!.object.metadata.resourceVersion);
  });
});

describe('an open stream', () => {
  it('can stay open without data, while a new one delivers', async () => {
    const run = await watching({ kind: 'silent', resource: 'pods', verb: 'watch', afterMs: 500 });
    await remove(run, 5_000);
    expect(run.stream.frames().some(({ type }) => type === 'DELETED')).toBe(false);
    const fresh = await open(`${run.pods}?watch=1&resourceVersion=${run.revision}`);
    await fresh.until((lines) => lines.some((line) => line.startsWith('{"type":"DELETED"')));
    expect(fresh.lines.slice(0, run.stream.lines.length)).toEqual(run.stream.lines);
  });

  it('can be late, with its lines in order', async () => {
    const run = await watching({ kind: 'delay', resource: 'pods', verb: 'watch', ms: 2_000 });
    await remove(run, 1_900);
    expect(run.stream.lines).toHaveLength(0);
    await run.clock.advance(5_000);
    const revisions = run.stream.frames().map(({ object }) => Number(object.metadata.resourceVersion));
    expect(revisions.length).toBeGreaterThan(8);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
  });
});

describe('an expired history', () => {
  it.each(['frame', 'status'] as const)(
    'breaks streams, and is reported as a %s to a watch that resumes',
    async (as) => {
      const run = await watching({ kind: 'expire', afterMs: 1_000, as });
      await remove(run, 1_100);
      await expect(run.stream.ended).rejects.toThrow();
      const from = run.stream.frames().at(-1)!.object.metadata.resourceVersion;
      const resumed = await open(`${run.pods}?watch=1&resourceVersion=${from}`);
      expect(resumed.status).toBe(as === 'frame' ? 200 : 410);
      await resumed.ended;
      expect(JSON.parse(resumed.lines[0]!)).toMatchObject(
        as === 'frame' ? { type: 'ERROR', object: { code: 410 } } : { kind: 'Status', code: 410, reason: 'Expired' },
      );
      const list = await send(run.pods);
      const again = await open(`${run.pods}?watch=1&resourceVersion=${list.body.metadata.resourceVersion}`);
      await run.clock.advance(5_000);
      expect(again.frames().at(-1)?.type).toBe('DELETED');
    },
  );
});

describe('the server', () => {
  it('can go down, and come back at the same address with its resourceVersions', async () => {
    const run = await watching({ kind: 'down', afterMs: 1_000, forMs: 60_000 });
    await remove(run, 1_100);
    await expect(run.stream.ended).rejects.toThrow();
    await expect(send(run.pods)).rejects.toThrow(/ECONNREFUSED/);
    // The system does not give this port to other processes: it is below the ephemeral ports.
    expect(Number(new URL(run.pods).port)).toBeLessThan(32_768);
    const from = run.stream.frames().at(-1)!.object.metadata.resourceVersion;
    await run.clock.advance(60_000);
    await settle();
    const resumed = await open(`${run.pods}?watch=1&resourceVersion=${from}`);
    await resumed.until((lines) => lines.some((line) => line.startsWith('{"type":"DELETED"')));
    expect((await send(run.pod)).status).toBe(404);
  });

  it('can be replaced by a server that is behind', async () => {
    const run = await watching({ kind: 'behind', afterMs: 100, forMs: 10_000, by: 5 });
    await remove(run, 5_000);
    const behind = await send(run.pods);
    expect(behind.body.items.map(({ metadata }) => metadata.name)).toContain(run.server.pod);
    const seen = run.stream.frames().at(-1)!.object.metadata.resourceVersion;
    const ahead = await send(`${run.pods}?resourceVersion=${seen}&resourceVersionMatch=NotOlderThan`);
    expect(ahead.status).toBe(504);
    await run.clock.advance(6_000);
    expect(run.stream.frames().at(-1)?.type).toBe('DELETED');
    expect((await send(run.pod)).status).toBe(404);
  });

  it('can accept a request and never answer it', async () => {
    const { pod, clock, server } = await playing('exit-143', { faults: [{ kind: 'hang', verb: 'get', times: 1 }] });
    const sent = send(pod);
    const failed = expect(sent).rejects.toThrow();
    await clock.advance(60_000);
    expect(server.requests).toMatchObject([{ verb: 'get', status: 0 }]);
    expect((await send(pod)).status).toBe(200);
    await server.close();
    await failed;
  });

  it('can close a kept-alive connection just when a request arrives', async () => {
    const { pods, pod, server } = await playing('exit-143', { faults: [{ kind: 'keepalive-race', verb: 'delete' }] });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await send(pods, { agent });
    await expect(send(pod, { method: 'DELETE', agent })).rejects.toThrow(/socket hang up|ECONNRESET/);
    agent.destroy();
    expect(server.deletesAccepted).toBe(0);
    expect(server.requests.at(-1)).toMatchObject({ nthOnConnection: 2, status: 0 });
  });
});

describe('a DELETE', () => {
  it('can be executed and never answered', async () => {
    const { pod, clock, server } = await playing('exit-143', { faults: [{ kind: 'delete-accepted-then-cut' }] });
    const sent = send(pod, { method: 'DELETE' });
    sent.catch(() => {});
    await clock.advance(50);
    await expect(sent).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(server.deletesAccepted).toBe(1);
    expect((await send(pod)).body.metadata.deletionTimestamp).toBeDefined();
  });

  it('can be lost before the server, once', async () => {
    const { pod, clock, server } = await playing('exit-143', { faults: [{ kind: 'delete-lost' }] });
    await expect(send(pod, { method: 'DELETE' })).rejects.toThrow();
    expect((await send(pod)).body.metadata.deletionTimestamp).toBeUndefined();
    const again = send(pod, { method: 'DELETE' });
    await clock.advance(50);
    expect((await again).status).toBe(200);
    expect(server.deletesAccepted).toBe(1);
  });

  it('can be answered with 200 and executed later', async () => {
    const { pod, clock } = await playing('exit-143', { faults: [{ kind: 'delete-ignored', thenMs: 5_000 }] });
    const { status, body } = await send(pod, { method: 'DELETE' });
    expect([status, body.metadata.deletionTimestamp]).toEqual([200, undefined]);
    await clock.advance(4_900);
    expect((await send(pod)).body.metadata.deletionTimestamp).toBeUndefined();
    await clock.advance(200);
    expect((await send(pod)).body.metadata.deletionTimestamp).toBeDefined();
  });
});
