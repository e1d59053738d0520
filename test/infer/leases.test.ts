/** Without a Killing, the node's Lease bounds its clock, unless the Lease is late or the clock was set. */
import { describe, expect, it } from 'vitest';
import { drains, plainStory } from '../sim/plain-story.ts';
import type { AppStory, Story } from '../sim/story.ts';
import { simulate } from '../sim/simulate.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import {
  adding,
  alone,
  changesOf,
  containerOf,
  ignoresSignal,
  editing,
  judged,
  storyObservations,
} from '../helpers/cases.ts';
import { observationsOf, traceOf } from '../helpers/recordings.ts';

const graceful = { ...plainStory().pod, graceSeconds: 30 };
const dies: AppStory = { onSignal: { kind: 'dies' }, lost: false, lines: [] };

/** The namespace is being deleted, so it accepts no Events. */
const inNamespace = (app: AppStory): Partial<Story> =>
  alone({ app }, { trigger: { kind: 'namespace-deletion', atMs: 1240 }, pod: graceful });

const withoutKillings = (rawObservations: readonly RawObservation[]) =>
  editing(rawObservations, 'events', (event) => (event['reason'] === 'Killing' ? undefined : event));

/** The time of the exit, client ms. */
function exitIn(story: Partial<Story>): number {
  const { instants } = simulate(plainStory(story)).expected;
  const exited = instants.find((one) => one.name === 'exited');
  return Date.parse(String(exited?.client));
}

function spanOfExit(rawObservations: readonly RawObservation[]) {
  const { exit } = containerOf(judged(rawObservations));
  const lo = Date.parse(String(exit?.at.earliest));
  const hi = Date.parse(String(exit?.at.latest));
  return { lo, hi, seconds: (hi - lo) / 1000 };
}

function expectContained(rawObservations: readonly RawObservation[], at: number): void {
  const { lo, hi } = spanOfExit(rawObservations);
  expect(lo).toBeLessThanOrEqual(at);
  expect(hi + 1).toBeGreaterThanOrEqual(at);
}

/** The renewals of the Lease arrive at the time that `by` returns. */
const delayed = (rawObservations: readonly RawObservation[], by: (at: number) => number): RawObservation[] =>
  adding(
    rawObservations.map((one) => (one.kind === 'changed' && one.stream === 'lease' ? { ...one, at: by(one.at) } : one)),
  );

describe('a Lease renewal that arrives on time', () => {
  it.each([
    ['exits at once', dies],
    ['is killed', ignoresSignal],
  ])('dates the exit of an application that %s in a deleted namespace', (_, app) => {
    const story = inNamespace(app);
    expect(spanOfExit(storyObservations(story)).seconds).toBeLessThan(5);
    expectContained(storyObservations(story), exitIn(story));
  });

  it.each([
    ['signalled', drains(3000, 143)],
    ['killed', ignoresSignal],
  ])('shows that the container was %s if the Killing is lost', (outcome, app) => {
    const story = alone({ app }, { pod: graceful });
    const rawObservations = withoutKillings(storyObservations(story));
    const report = judged(rawObservations);
    expect(containerOf(report).outcome).toBe(outcome);
    expect(spanOfExit(rawObservations).seconds).toBeLessThan(3);
    expectContained(rawObservations, exitIn(story));
    expect(report.assumes.map(({ name }) => name)).toEqual(expect.arrayContaining(['delivery-lag', 'event-lag']));
  });
});

describe('the exit’s interval contains the truth', () => {
  const story = alone({ app: ignoresSignal }, { pod: graceful });
  const at = exitIn(story);
  const rawObservations = withoutKillings(storyObservations(story));

  it.each([3, 25])('if the Lease renewals arrive %i s late', (seconds) => {
    expectContained(
      delayed(rawObservations, (when) => when + seconds * 1000),
      at,
    );
    const second = changesOf(rawObservations, 'lease')[1]?.at;
    expectContained(
      delayed(rawObservations, (when) => (when === second ? when + seconds * 1000 : when)),
      at,
    );
  });

  it('if the Lease stream was resumed just before a renewal arrives', () => {
    const [first] = changesOf(rawObservations, 'lease');
    const cut = (first?.at ?? 0) + 8000;
    const late = delayed(rawObservations, (when) => (when === first?.at ? cut : when));
    const resumed: RawObservation = { at: cut, kind: 'resumed', stream: 'lease', since: cut - 9000 };
    const cutAt = late.findIndex((one) => one.at >= cut);
    expectContained(late.toSpliced(cutAt, 0, resumed), at);
  });

  it.each([4, 100])('if the node’s clock was set by %i s', (seconds) => {
    const shifted = (stamp: unknown) => new Date(Date.parse(String(stamp)) + seconds * 1000).toISOString();
    const since = at - 10_000;
    const leases = editing(rawObservations, 'lease', (lease, one) =>
      one.at < since ? lease : { ...lease, spec: { ...lease.spec, renewTime: shifted(lease.spec['renewTime']) } },
    );
    const set = editing(leases, 'pod', (pod) => {
      const text = JSON.stringify(pod).replace(
        /"finishedAt":"([^"]+)"/g,
        (_, stamp: string) => `"finishedAt":"${shifted(stamp).slice(0, 19)}Z"`,
      );
      return JSON.parse(text) as typeof pod;
    });
    expectContained(set, at);
  });
});

it('a long run keeps only the last Lease renewals', () => {
  const rawObservations = storyObservations(alone({ app: drains(3000, 0) }));
  const [first] = changesOf(rawObservations, 'lease');
  if (!first) throw new Error('the story has no Lease');
  const many = Array.from({ length: 500 }, (_, index): RawObservation => {
    const renewTime = new Date(first.at + index * 10_000).toISOString();
    const at = first.at + index * 10_000 + 3;
    return { ...first, at, object: { ...first.object, spec: { ...first.object.spec, renewTime } } };
  });
  const trace = traceOf(observationsOf(adding(rawObservations, ...many)));
  expect(trace.nodeSigns.renewals.length).toBeLessThanOrEqual(16);
});
