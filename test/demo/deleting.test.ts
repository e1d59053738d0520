import { describe, expect, it } from 'vitest';
import { open, send } from './helpers/client.ts';
import { edited, loadRecording } from './helpers/load.ts';
import { playing } from './helpers/playing.ts';

describe('deleting a pod', () => {
  it('refuses a precondition with another uid', async () => {
    const { pod, server } = await playing('exit-143');
    const { uid } = (await send(pod)).body.metadata;
    const wrong = '00000000-0000-0000-0000-000000000000';
    const words =
      `Operation cannot be fulfilled on Pod "api-0": the UID in the precondition (${wrong}) does not match the UID in ` +
      `record (${uid}). The object might have been deleted and then recreated`;
    const inBody = await send(pod, { method: 'DELETE', body: { preconditions: { uid: wrong } } });
    expect([inBody.status, inBody.body.message]).toEqual([409, words]);
    expect(server.deletesAccepted).toBe(0);
    expect((await send(pod)).body.metadata.deletionTimestamp).toBeUndefined();
  });

  it('changes nothing on a second DELETE, and shortens the grace period on a DELETE with a shorter one', async () => {
    const { pod, clock } = await playing('graceful-exit');
    const first = send(pod, { method: 'DELETE' });
    await clock.advance(1_000);
    const { metadata } = (await first).body;
    const again = await send(pod, { method: 'DELETE' });
    expect(again.status).toBe(200);
    expect(again.body.metadata.deletionTimestamp).toBe(metadata.deletionTimestamp);
    const shorter = await send(pod, { method: 'DELETE', body: { gracePeriodSeconds: 4 } });
    const moved = Date.parse(metadata.deletionTimestamp!) - Date.parse(shorter.body.metadata.deletionTimestamp!);
    expect([moved, shorter.body.metadata.deletionGracePeriodSeconds]).toEqual([6_000, 4]);
    await clock.advance(2_600);
    const later = (await send(pod)).body;
    expect(later.status).toMatchObject({ phase: 'Succeeded' });
    expect(later.metadata.deletionTimestamp).toBe(shorter.body.metadata.deletionTimestamp);
  });

  it('stores the current time and 1 s if the shortened grace period is already over', async () => {
    const { pod, clock } = await playing('graceful-exit');
    void send(pod, { method: 'DELETE' });
    await clock.advance(3_000);
    const { metadata } = (await send(pod, { method: 'DELETE', body: { gracePeriodSeconds: 2 } })).body;
    expect(metadata.deletionGracePeriodSeconds).toBe(1);
    expect(metadata.deletionTimestamp).toBe(new Date(clock.now()).toISOString().replace(/\.\d+Z/, 'Z'));
  });

  it('removes the object at once with grace period 0, while the recorded kill continues', async () => {
    const { pod, pods, base, clock } = await playing('graceful-exit');
    const from = (await send(pods)).body.metadata.resourceVersion;
    const stream = await open(`${pods}?watch=1&resourceVersion=${from}&labelSelector=app%3Dcheckout`);
    const { body } = await send(pod, { method: 'DELETE', body: { gracePeriodSeconds: 0 } });
    expect(body.metadata.deletionGracePeriodSeconds).toBe(0);
    await clock.advance(6_000);
    const mine = stream.frames().filter(({ object }) => object.metadata.uid === body.metadata.uid);
    expect(mine.map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
    const events = await send(`${base}/events?fieldSelector=reason%3DKilling`);
    expect(events.body.items).toHaveLength(1);
    expect((await send(pod)).status).toBe(404);
  });

  it('removes a pod that the recording does not follow after a moment', async () => {
    const { pods, server, clock } = await playing('graceful-exit');
    const other = (await send(pods)).body.items.find((item) => item.metadata.name !== server.pod)!;
    const url = `${pods}/${other.metadata.name}`;
    expect((await send(url, { method: 'DELETE' })).body.metadata.deletionGracePeriodSeconds).toBe(10);
    expect((await send(url)).status).toBe(200);
    const stream = await open(`${pods}?watch=1`);
    await clock.advance(400);
    // Removed while its container ran, it would look like a forced deletion.
    const last = stream.frames().findLast(({ object }) => object.metadata.name === other.metadata.name)!;
    const containerStatuses = [{ state: { terminated: { exitCode: 0 } } }];
    expect(last).toMatchObject({ type: 'DELETED', object: { status: { phase: 'Succeeded', containerStatuses } } });
    expect((await send(url)).status).toBe(404);
    expect((await send(`${pods}/${server.pod}`)).body.metadata.deletionTimestamp).toBeUndefined();
  });

  it('ends each pod whose end was recorded as recorded, not only the first', async () => {
    const { pods, server, clock } = await playing('second/rollout-25');
    const other = (await send(pods)).body.items.find((item) => item.metadata.name !== server.pod)!;
    const url = `${pods}/${other.metadata.name}`;
    void send(url, { method: 'DELETE' });
    await clock.advance(1_000);
    expect((await send(url)).body).toMatchObject({ status: { phase: 'Running' }, metadata: { generation: 2 } });
    await clock.advance(10_000);
    expect((await send(url)).status).toBe(404);
  });

  it('starts a rollout with a request of the client, and sends the recorded answer', async () => {
    const { server, clock, pod } = await playing('rolling-update');
    const url = `${server.url}/apis/apps/v1/namespaces/rolling-update/deployments/checkout`;
    const patched = send(url, {
      method: 'PATCH',
      body: {},
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    await clock.advance(1_000);
    expect((await patched).body).toMatchObject({ kind: 'Deployment', metadata: { generation: 2 } });
    expect((await send(pod)).body.metadata.deletionTimestamp).toBeDefined();
  });

  it('accepts a DELETE of a pod that a controller was about to delete', async () => {
    const { pod, clock, server } = await playing('rolling-update');
    const deleted = send(pod, { method: 'DELETE' });
    await clock.advance(10);
    expect((await deleted).body.metadata.deletionTimestamp).toBeDefined();
    await clock.advance(10_000);
    await server.played;
    expect((await send(pod)).status).toBe(404);
    expect(server.deletesAccepted).toBe(1);
  });
});

describe('evicting a pod', () => {
  const eviction = (more: object = {}) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: {}, ...more });

  it('respects preconditions and dry runs', async () => {
    const { pod } = await playing('evicted');
    const url = `${pod}/eviction`;
    const wrong = eviction({ deleteOptions: { preconditions: { uid: 'other' } } });
    expect((await send(url, { method: 'POST', body: wrong })).status).toBe(409);
    const dry = eviction({ deleteOptions: { dryRun: ['All'] } });
    expect((await send(url, { method: 'POST', body: dry })).status).toBe(201);
    expect((await send(pod)).body.metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('finalizers', () => {
  const merge = { 'content-type': 'application/merge-patch+json' };

  it('keep the terminated pod until they are removed, and the DELETED object still has them', async () => {
    const { pod, pods, clock } = await playing('finalizer');
    const from = (await send(pods)).body.metadata.resourceVersion;
    const stream = await open(`${pods}?watch=1&resourceVersion=${from}`);
    void send(pod, { method: 'DELETE' });
    await clock.advance(3_000);
    expect((await send(pod)).body.metadata).toMatchObject({
      deletionGracePeriodSeconds: 0,
      finalizers: [expect.any(String)],
    });
    const patched = await send(pod, { method: 'PATCH', body: { metadata: { finalizers: null } }, headers: merge });
    expect(patched.body.metadata.finalizers).toBeUndefined();
    expect((await send(pod)).status).toBe(404);
    await clock.advance(10_000);
    const last = stream.frames().at(-1)!;
    expect(last.type).toBe('DELETED');
    expect(last.object.metadata.finalizers).toHaveLength(1);
    expect(stream.frames().filter(({ type }) => type === 'DELETED')).toHaveLength(1);
  });

  it('that a client added keep a pod that the recording removes', async () => {
    const { pod, clock, server } = await playing('exit-143');
    const body = [{ op: 'add', path: '/metadata/finalizers', value: ['example.com/hold'] }];
    const headers = { 'content-type': 'application/json-patch+json' };
    expect((await send(pod, { method: 'PATCH', body, headers })).status).toBe(200);
    void send(pod, { method: 'DELETE' });
    await clock.advance(10_000);
    await server.played;
    expect((await send(pod)).body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
    await send(pod, { method: 'PATCH', body: { metadata: { finalizers: null } }, headers: merge });
    expect((await send(pod)).status).toBe(404);
  });
});

describe('following logs', () => {
  it('respects tailLines and sinceTime', async () => {
    const { pod, clock } = await playing('graceful-exit');
    expect((await send(`${pod}/log`)).text).toBe('serving on :8080\n');
    expect((await send(`${pod}/log?tailLines=0`)).text).toBe('');
    expect((await send(`${pod}/log?sinceTime=${new Date(clock.now()).toISOString()}`)).text).toBe('');
    const tail = await open(`${pod}/log?follow=true&tailLines=0`);
    void send(pod, { method: 'DELETE' });
    await clock.advance(200);
    expect(tail.lines).toEqual(['SIGTERM received, draining']);
  });

  it('answers like the recorded server for containers that never ran', async () => {
    const waiting = await playing('grace-shortened');
    const refused = await send(`${waiting.pod}/log?container=app&follow=true`);
    expect([refused.status, refused.body.code]).toEqual([400, 400]);
    const pending = await playing('pending');
    expect((await send(`${pending.pod}/log?follow=true`)).status).toBe(204);
  });
});

describe('a scenario', () => {
  it('is played without a recorded request too', async () => {
    const scenario = loadRecording('exit-143');
    const rows = scenario.rows.filter(({ type }) => type !== 'request' && type !== 'response');
    const { pods, pod, clock, server } = await playing('exit-143', {
      scenario: edited({ ...scenario, rows }, () => {}),
    });
    await open(`${pods}?watch=1`);
    await clock.advance(5_000);
    await server.played;
    expect((await send(pod)).status).toBe(404);
  });

  it('plays again after its end: watches end, the pods are back, and resourceVersions continue', async () => {
    const { server, clock, pods, pod } = await playing('exit-143', { playAgainAfterMs: 5_000 });
    const listed = await send(pods);
    const stream = await open(`${pods}?watch=1&resourceVersion=${listed.body.metadata.resourceVersion}`);
    const ended = stream.ended.catch(() => undefined);
    void send(pod, { method: 'DELETE' });
    await clock.advance(30_000);
    await ended;
    const last = Number(stream.frames().at(-1)?.object.metadata.resourceVersion);
    const again = await send(pods);
    expect(again.body.items.map(({ metadata }) => metadata.name)).toEqual([server.pod]);
    expect(Number(again.body.metadata.resourceVersion)).toBeGreaterThan(last);
    void send(pod, { method: 'DELETE' });
    await clock.advance(4_000);
    expect((await send(pod)).status).toBe(404);
    expect(server.deletesAccepted).toBe(2);
  });
});
