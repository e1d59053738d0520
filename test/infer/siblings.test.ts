/** Siblings that arrive late or in an additional list: which of them is a replacement? */
import { describe, expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { observe } from '../../src/model/observe.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { adding, attached, changed, changesOf, judged, markedIn, recorded, without } from '../helpers/cases.ts';

const pad = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');

/** The second of the deletion (ms, API server's clock), and when the run received it. */
function deletionIn(rawObservations: readonly RawObservation[]): { second: number; at: number; version: bigint } {
  const { object, at } = markedIn(rawObservations);
  const { deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } = object.metadata;
  const second = Date.parse(String(deletionTimestamp)) - Number(deletionGracePeriodSeconds) * 1000;
  return { second, at, version: BigInt(String(resourceVersion)) };
}

/** The recording's replacement, in a list after the DELETE. `created`: seconds after the deletion. */
async function listedLate(created: number, behind = 1000n): Promise<RawObservation[]> {
  const rawObservations = await recorded('graceful-exit');
  const { second, at, version } = deletionIn(rawObservations);
  const own = markedIn(rawObservations).object.metadata.uid;
  const printed = changesOf(rawObservations, 'siblings').filter(({ object }) => object.metadata.uid !== own);
  const ready = printed.at(-1)?.object;
  if (!ready) throw new Error('the recording has no sibling');
  const resourceVersion = String(version + behind);
  const pod = {
    ...ready,
    metadata: { ...ready.metadata, creationTimestamp: pad(second + created * 1000), resourceVersion },
  };
  const list: RawObservation = { at: at + 2500, kind: 'listed', stream: 'siblings', resourceVersion, objects: [pod] };
  return adding(without(rawObservations, 'siblings'), list);
}

describe('a sibling in a first list after the DELETE', () => {
  it.each([
    ['is the replacement if it was created later', 1, true],
    ['is not reported as the replacement if it was created in the same second', 0, false],
    ['is not the replacement if it was created earlier', -1, false],
  ])('%s', async (_, created, isReported) => {
    const rawObservations = await listedLate(created);
    for (const report of [judged(rawObservations), judged(attached(rawObservations))]) {
      expect(report.replacement !== undefined).toBe(isReported);
      if (!report.replacement) continue;
      const accepted = report.marks.find(({ name }) => name === 'accepted');
      const { createdAt, readyAt } = report.replacement;
      // The list shows that it exists and is ready, but not since when it is ready.
      const list = rawObservations.find((one) => one.kind === 'listed' && one.stream === 'siblings');
      expect(Date.parse(createdAt.latest)).toBeLessThanOrEqual((list?.at ?? 0) + 1);
      expect(Date.parse(createdAt.earliest)).toBeGreaterThanOrEqual(Date.parse(accepted?.at.earliest ?? ''));
      expect(Date.parse(readyAt?.earliest ?? '')).toBeLessThanOrEqual(Date.parse(createdAt.latest));
    }
  });

  // As in the README's `deploy/x --attach` during a rollout: the second pod is deleted while podexit lists siblings.
  it('created in the same second hides whether a later pod is the replacement', async () => {
    const late = await listedLate(0);
    const list = late.find((one) => one.kind === 'listed' && one.stream === 'siblings');
    const first = (list?.kind === 'listed' ? list.objects[0] : {}) as ReturnType<typeof markedIn>['object'];
    const { second, at } = deletionIn(late);
    const creationTimestamp = pad(second + 2000);
    const next = { ...first, metadata: { ...first.metadata, name: 'checkout-later', uid: 'later', creationTimestamp } };
    const comes = changed(at + 2600, 'siblings', next, 'ADDED');
    expect(judged(adding(late, comes)).replacement).toBeUndefined();
    expect(judged(adding(without(late, 'siblings'), comes)).replacement?.name).toBe('checkout-later');
  });

  it('is old if its resourceVersion is from before the deletion, whatever its creationTimestamp', async () => {
    expect(judged(await listedLate(1, -1n)).replacement).toBeUndefined();
  });

  it('may be the replacement if the run starts after the deletion, because its first state may be newer', async () => {
    const late = await listedLate(1, -1n);
    const marked = markedIn(late);
    const found = attached(late).map((one): RawObservation =>
      one.kind === 'listed' && one.stream === 'pod' ? { ...one, objects: [marked.object] } : one,
    );
    expect(judged(found).replacement).toBeDefined();
  });

  it.each([
    ['before the deletion, so that its order is unknown', -1000, true],
    ['only after the deletion', 100, false],
  ])('with an old resourceVersion is judged right if the pod’s stream has a gap %s', async (_, from, isReported) => {
    const late = attached(await listedLate(1, -1n));
    const { at } = deletionIn(late);
    const gap: RawObservation = {
      at: at + from + 500,
      kind: 'gap',
      stream: 'pod',
      from: at + from,
      to: at + from + 500,
      cause: 'expired',
    };
    expect(judged(adding(late, gap)).replacement !== undefined).toBe(isReported);
  });
});

describe('a pod of another name or namespace on the pod’s stream', () => {
  it.each([{ name: 'somebody-else' }, { namespace: 'elsewhere' }])(
    '%j is neither the pod nor its successor',
    async (other) => {
      const rawObservations = await recorded('graceful-exit');
      const { object, at } = markedIn(rawObservations);
      const metadata = { ...object.metadata, ...other, uid: 'uid-of-somebody-else' };
      const foreign = { ...object, metadata };
      const misleading = adding(
        rawObservations,
        changed(at + 500, 'pod', foreign, 'ADDED'),
        changed(at + 600, 'pod', foreign, 'DELETED'),
      );
      const [report, plain] = [judged(misleading), judged(rawObservations)];
      expect(report.replacement).toEqual(
        plain.replacement === undefined ? undefined : expect.objectContaining({ uid: plain.replacement.uid }),
      );
      const removed = ({ marks }: typeof report) => marks.find(({ name }) => name === 'removed')?.at.latest;
      expect(removed(report)).toBe(removed(plain));
    },
  );
});

describe('a list of thousands of siblings', () => {
  /**
   * CPU time of the list (ms), the best of some tries: on a busy machine, wall-clock time would measure other
   * processes.
   */
  const timeOf = (count: number): number => {
    const pod = { kind: 'Pod', spec: { containers: [] }, status: {} };
    const objects = Array.from({ length: count }, (_, n) => ({
      ...pod,
      metadata: { name: `web-${n}`, uid: `uid-${n}` },
    }));
    const list: RawObservation = { at: 0, kind: 'listed', stream: 'siblings', resourceVersion: '1', objects };
    const observation = observe(list, 1, { logText: false });
    const tries = Array.from({ length: 7 }, () => {
      const began = process.cpuUsage();
      expect(reduce(emptyTrace, observation).siblings.size).toBe(count);
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1000;
    });
    return Math.min(...tries);
  };

  it('takes time in proportion to its length, not to the square of it', () => {
    expect(timeOf(4000) / timeOf(500)).toBeLessThan(32);
  });
});
