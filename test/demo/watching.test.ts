import { describe, expect, it } from 'vitest';
import { open, send } from './helpers/client.ts';
import { playing } from './helpers/playing.ts';

const types = (frames: { type: string }[]) => frames.map(({ type }) => type);

describe('watching', () => {
  it('resumes after any resourceVersion without losing or repeating a change', async () => {
    const { pods, pod, server, clock } = await playing('graceful-exit');
    const { body } = await send(pods);
    const whole = await open(`${pods}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    void send(pod, { method: 'DELETE' });
    await clock.advance(5_000);
    await server.played;
    const frames = whole.frames();
    expect(frames.length).toBeGreaterThan(10);
    for (const [index, { object }] of frames.entries()) {
      const resumed = await open(`${pods}?watch=1&resourceVersion=${object.metadata.resourceVersion}`);
      const rest = frames.slice(index + 1);
      await resumed.until((lines) => lines.length >= rest.length);
      expect(resumed.frames()).toEqual(rest);
      resumed.close();
    }
  });

  it('starts with the current state without a resourceVersion, and with 0', async () => {
    const { pods } = await playing('graceful-exit');
    for (const query of ['watch=true', 'watch=1&resourceVersion=0']) {
      const stream = await open(`${pods}?${query}`);
      await stream.until((lines) => lines.length === 2);
      expect(types(stream.frames())).toEqual(['ADDED', 'ADDED']);
      stream.close();
    }
  });

  it('sends 410 inside the stream for a compacted resourceVersion', async () => {
    const { pods } = await playing('exit-143');
    const stream = await open(`${pods}?watch=1&resourceVersion=1`);
    await stream.ended;
    expect(stream.status).toBe(200);
    expect(stream.frames()).toHaveLength(1);
    expect(stream.frames()[0]).toMatchObject({
      type: 'ERROR',
      object: {
        kind: 'Status',
        code: 410,
        reason: 'Expired',
        message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/) as string,
      },
    });
  });

  it('streams a list and marks its end, and refuses sendInitialEvents without its required parameters', async () => {
    const { pods } = await playing('graceful-exit');
    const bad = await send(`${pods}?watch=1&sendInitialEvents=true`);
    expect(bad.status).toBe(422);
    expect(bad.body.message).toContain('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const stream = await open(`${pods}?${query}`);
    await stream.until((lines) => lines.length === 3);
    expect(types(stream.frames())).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
    const { annotations, resourceVersion } = stream.frames()[2]!.object.metadata;
    expect(annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    expect(Number(resourceVersion)).toBeGreaterThan(0);
  });

  it('sends bookmarks if they are allowed, and ends after timeoutSeconds', async () => {
    const { pods, clock } = await playing('exit-143');
    const from = (await send(pods)).body.metadata.resourceVersion;
    const plain = await open(`${pods}?watch=1&resourceVersion=${from}&timeoutSeconds=200`);
    const marked = await open(`${pods}?watch=1&resourceVersion=${from}&timeoutSeconds=200&allowWatchBookmarks=true`);
    await clock.advance(201_000);
    await Promise.all([plain.ended, marked.ended]);
    expect(plain.lines).toEqual([]);
    expect(types(marked.frames())).toEqual(['BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
    expect(Number(marked.frames()[2]?.object.metadata.resourceVersion)).toBeGreaterThan(Number(from));
  });

  it('sends ADDED or DELETED when a selector starts or stops to match an object', async () => {
    const { pods, pod, clock, server } = await playing('graceful-exit');
    const from = (await send(pods)).body.metadata.resourceVersion;
    const running = await open(`${pods}?watch=1&resourceVersion=${from}&fieldSelector=status.phase%3DRunning`);
    const done = await open(`${pods}?watch=1&resourceVersion=${from}&fieldSelector=status.phase%3DSucceeded`);
    void send(pod, { method: 'DELETE' });
    await clock.advance(5_000);
    await server.played;
    const about = (frames: ReturnType<typeof running.frames>) =>
      frames.filter(({ object }) => object.metadata.name === server.pod).map(({ type }) => type);
    expect(about(running.frames())).toEqual(['MODIFIED', 'MODIFIED', 'DELETED']);
    expect(about(done.frames())).toEqual(['ADDED', 'MODIFIED', 'MODIFIED', 'DELETED']);
    expect(running.frames().find(({ type }) => type === 'ADDED')?.object.metadata.name).not.toBe(server.pod);
  });

  it('delivers changes that a test writes, and compacts old ones', async () => {
    const { pods, server } = await playing('exit-143');
    const { body } = await send(pods);
    const chatty = { ...body.items[0]!, kind: 'Pod', apiVersion: 'v1' };
    for (let count = 0; count < 25_000; count += 1) server.write('pods', 'MODIFIED', chatty);
    const old = await open(`${pods}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    await old.ended;
    expect(old.frames()[0]).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });
});
