import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import { open, send, type Frame } from './helpers/client.ts';
import { began, playing, type Playing } from './helpers/playing.ts';

const names = readdirSync(new URL('../recordings', import.meta.url))
  .filter((file) => file.endsWith('.ndjson'))
  .map((file) => file.replace('.ndjson', ''));

interface Played {
  run: Playing;
  pods: Frame[];
  events: Frame[];
  /** The arrival of the DELETE, or of the request that causes it. */
  arrival: number;
  answer?: KubeObject;
}

/** Plays a recording to its end, and returns what a client saw. */
async function playOut(name: string): Promise<Played> {
  const run = await playing(name);
  const { pods, pod, base, clock, server } = run;
  const streams = await Promise.all([open(`${pods}?watch=1`), open(`${base}/events?watch=1`)]);
  await clock.advance(500);
  const isAttach = ['rolling-update', 'owner-deleted', 'preempted', 'taint-evicted'].includes(name);
  const arrival = isAttach ? began + 1_200 : clock.now();
  const sent = isAttach ? undefined : name === 'evicted' ? evict(pod) : send(pod, { method: 'DELETE' });
  await clock.advance(120_000);
  await server.played;
  const answer = (await sent)?.body;
  const [podFrames, eventFrames] = streams.map((stream) => stream.frames());
  return { run, pods: podFrames!, events: eventFrames!, arrival, ...(answer && { answer }) };
}

function evict(pod: string) {
  return send(`${pod}/eviction`, { method: 'POST', body: { metadata: {} } });
}

function second(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z/, 'Z');
}

function containerStates(pod: KubeObject): Record<string, { startedAt?: string; finishedAt?: string }> {
  const status = pod.status as Record<string, { name: string; state: Record<string, { startedAt?: string }> }[]>;
  const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  return Object.fromEntries(all.map(({ name, state }) => [name, state.running ?? state.terminated ?? {}]));
}

describe('a recording that is played', () => {
  it.each(names)('%s has timestamps that fit the times at which it is played', async (name) => {
    const { run, pods, events, arrival, answer } = await playOut(name);
    const mine = pods.map(({ object }) => object).filter(({ metadata }) => metadata.name === run.server.pod);
    const marked = mine.find(({ metadata }) => metadata.deletionTimestamp !== undefined)!;
    const uid = mine[0]!.metadata.uid;

    const { deletionTimestamp, deletionGracePeriodSeconds: grace = -1 } = marked.metadata;
    const accepted = Date.parse(deletionTimestamp!) - grace * 1000;
    expect(accepted + 1_000).toBeGreaterThan(arrival);
    expect(accepted).toBeLessThanOrEqual(arrival + (name === 'rolling-update' ? 700 : 60));
    if (answer?.kind === 'Pod') expect(answer.metadata.deletionTimestamp).toBe(deletionTimestamp);

    for (const truth of run.server.truth()) {
      const last = mine.filter(({ metadata }) => metadata.uid === uid).at(-1)!;
      const finishedAt = containerStates(last)[truth.container]?.finishedAt;
      if (finishedAt !== undefined) expect(finishedAt).toBe(second(Date.parse(truth.exited!)));
      expect(Date.parse(truth.exited!)).toBeGreaterThan(arrival);
    }

    const ofUid = mine.filter(({ metadata }) => metadata.uid === uid);
    for (const { container } of run.server.truth()) {
      expect(new Set(ofUid.flatMap((pod) => containerStates(pod)[container]?.startedAt ?? [])).size).toBe(1);
    }

    const isOurs = ({ object }: Frame) =>
      object.reason === 'Killing' && (object.involvedObject as { uid?: string }).uid === uid;
    const killing = events.filter(isOurs).map(({ object }) => object);
    for (const event of killing) {
      const made = Number(BigInt(`0x${event.metadata.name.split('.').at(-1)}`) / 1_000_000n);
      expect(made).toBeGreaterThanOrEqual(arrival);
      expect(event.firstTimestamp).toBe(second(made));
      expect(Date.parse(event.metadata.creationTimestamp!)).toBeGreaterThan(made - 1_000);
    }
    if (run.server.truth().length > 0) expect(killing.length).toBeGreaterThan(0);
  });
});
