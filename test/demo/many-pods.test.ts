import { expect, it } from 'vitest';
import { countRequests } from '../helpers/request-counts.ts';
import { open, send } from './helpers/client.ts';
import { playing } from './helpers/playing.ts';

it('plays a rollout of 25 pods: each is deleted and replaced, and its log ends', async () => {
  const { server, clock, base, pods } = await playing('second/rollout-25');
  const listed = await send(pods);
  const names = listed.body.items.map(({ metadata }) => metadata.name);
  expect(names).toHaveLength(25);
  const stream = await open(`${pods}?watch=1&labelSelector=app%3Dcheckout`);
  const logs = await Promise.all(names.map((name) => open(`${pods}/${name}/log?follow=true`)));
  await clock.advance(60_000);
  await server.played;
  const deleted = stream.frames().filter(({ type }) => type === 'DELETED');
  expect(deleted.map(({ object }) => object.metadata.name).sort()).toEqual(names.sort());
  for (const { lines } of logs) expect(lines.at(-1)).toBe('drained, exiting 0');
  const after = await send(pods);
  expect(after.body.items).toHaveLength(25);
  expect(after.body.items.some(({ metadata }) => names.includes(metadata.name))).toBe(false);
  expect(await send(`${base.replace('/api/v1', '/apis/apps/v1')}/deployments/checkout`)).toMatchObject({ status: 200 });
  expect(countRequests(server.requests)).toMatchObject({ watches: 1, watchesAtOnce: 1, logsAtOnce: 25 });
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
