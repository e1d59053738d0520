import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { open, send } from './helpers/client.ts';
import { playing } from './helpers/playing.ts';

interface Refused {
  about: string;
  response: { message: string };
}

/** The message of a real server's refusal, with the names of this run. */
function realMessage(about: string, ...swaps: [string, string][]): string {
  const lines = readFileSync(new URL('../errors.ndjson', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const found = lines.map((line) => JSON.parse(line) as Refused).find((one) => one.about === about);
  return swaps.reduce((text, [from, to]) => text.replace(from, to), found?.response.message ?? 'no such refusal');
}

describe('reading objects', () => {
  it('pages a list, and keeps every page at the resourceVersion of the first', async () => {
    const { base, server } = await playing('graceful-exit');
    const whole = await send(`${base}/events`);
    const first = await send(`${base}/events?limit=4`);
    expect(first.body.items).toHaveLength(4);
    expect(first.body.metadata.remainingItemCount).toBe(whole.body.items.length - 4);
    server.write('events', 'DELETED', whole.body.items.at(-1)!);
    const names = first.body.items.map((item) => item.metadata.name);
    let token = first.body.metadata.continue;
    while (token !== undefined) {
      const page = await send(`${base}/events?limit=4&continue=${token}`);
      expect(page.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
      names.push(...page.body.items.map((item) => item.metadata.name));
      token = page.body.metadata.continue;
    }
    expect(names).toEqual(whole.body.items.map((item) => item.metadata.name));
  });

  it('answers 504 with Retry-After for a resourceVersion ahead, and 410 for a compacted one', async () => {
    const { pods, server } = await playing('exit-143');
    const ahead = await send(`${pods}?resourceVersion=999999999&resourceVersionMatch=NotOlderThan`);
    expect(ahead.status).toBe(504);
    expect(ahead.headers['retry-after']).toBe('1');
    expect(ahead.body.message).toMatch(/^Timeout: Too large resource version: 999999999, current: \d+$/);
    const old = await send(`${pods}?resourceVersion=5&resourceVersionMatch=Exact`);
    expect(old.status).toBe(410);
    expect(old.body.message).toBe(realMessage('list from a compacted exact resourceVersion'));
    const kept = await send(`${pods}?resourceVersion=1&resourceVersionMatch=NotOlderThan`);
    expect(kept.body.items).toHaveLength(1);
    await server.close();
  });

  it('reads the old state at an exact resourceVersion', async () => {
    const { pods, pod, clock } = await playing('exit-143');
    const before = await send(pods);
    const revision = before.body.metadata.resourceVersion;
    const answer = send(pod, { method: 'DELETE' });
    await clock.advance(20);
    expect((await answer).status).toBe(200);
    const exact = await send(`${pods}?resourceVersion=${revision}&resourceVersionMatch=Exact`);
    expect(exact.body.items).toEqual(before.body.items);
    const now = await send(pods);
    expect(now.body.items[0]?.metadata.deletionTimestamp).toBeDefined();
  });

  it('selects by fields and labels, and refuses fields that a real server does not know', async () => {
    const { base, pods, server } = await playing('graceful-exit');
    const count = async (url: string) => (await send(url)).body.items.length;
    expect(await count(`${pods}?fieldSelector=metadata.name%3D${server.pod}`)).toBe(1);
    expect(await count(`${pods}?fieldSelector=spec.nodeName%3Dnode1,status.phase!%3DRunning`)).toBe(0);
    expect(await count(`${pods}?labelSelector=app%3Dcheckout,pod-template-hash`)).toBe(2);
    expect(await count(`${pods}?labelSelector=app%20in%20(a,checkout),!pod-template-hash`)).toBe(0);
    expect(await count(`${pods}?labelSelector=app%20notin%20(checkout)`)).toBe(0);
    expect(await count(`${pods}?labelSelector=app!%3Dother`)).toBe(2);
    const about = `involvedObject.name%3D${server.pod},involvedObject.kind%3DPod,source%3Dkubelet`;
    expect(await count(`${base}/events?fieldSelector=${about},type%3DNormal`)).toBe(3);
    const bad = await send(`${pods}?fieldSelector=spec.color%3Dred`);
    expect(bad.status).toBe(400);
    expect(bad.body.message).toBe(realMessage('bad field selector'));
  });

  it('answers with the messages of a real server for objects that do not exist', async () => {
    const { pods, server } = await playing('exit-143');
    const missing = await send(`${pods}/nope`);
    expect([missing.status, missing.body.message]).toEqual([404, realMessage('no such pod')]);
    const elsewhere = await send(`${server.url}/api/v1/namespaces/nowhere/pods/x`);
    expect([elsewhere.status, elsewhere.body.message]).toEqual([404, realMessage('no such namespace')]);
    expect((await send(`${server.url}/api/v1/namespaces/nowhere/pods`)).body.items).toEqual([]);
    const unknown = await send(`${server.url}/apis/example.com/v1/things`);
    expect(unknown.body).toMatchObject({ kind: 'Status', code: 404, reason: 'NotFound' });
  });

  it('refuses requests without the token', async () => {
    const { pods } = await playing('exit-143', { token: 'open-sesame' });
    const refused = await send(pods, { headers: { authorization: 'Bearer wrong' } });
    expect([refused.status, refused.body.message]).toEqual([401, realMessage('wrong token')]);
    expect((await send(pods, { headers: { authorization: 'Bearer open-sesame' } })).status).toBe(200);
  });

  it('renews the node’s Lease every ten seconds', async () => {
    const { server, clock } = await playing('exit-143');
    const leases = `${server.url}/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases`;
    const stream = await open(`${leases}?watch=1&fieldSelector=metadata.name%3Dnode1`);
    await clock.advance(30_500);
    await stream.until((lines) => lines.length >= 4);
    const renewed = stream.frames().map(({ object }) => Date.parse((object.spec as { renewTime: string }).renewTime));
    expect(renewed.map((at) => at - renewed[0]!)).toEqual([0, 10_000, 20_000, 30_000]);
  });

  it('does not renew the Lease while the recorded kubelet was down', async () => {
    const { server, clock, pod } = await playing('node-down');
    const leases = `${server.url}/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases`;
    const stream = await open(`${leases}?watch=1`);
    await clock.advance(15_000);
    const deletedAt = clock.now();
    void send(pod, { method: 'DELETE' });
    await clock.advance(90_000);
    const renewed = stream.frames().map(({ object }) => Date.parse((object.spec as { renewTime: string }).renewTime));
    const silent = renewed.filter((at) => at > deletedAt && at < deletedAt + 62_000);
    expect([renewed.length, silent.length]).toEqual([5, 0]);
  });
});
