/**
 * What podexit claims during a run, at every prefix of every recording, and of simulated stories on slow streams. A
 * mark that is not provisional contains the truth, stays, and moves only within its earlier interval. Nothing lies in
 * the future. podexit withdraws no reported outcome, trigger, hook or finding while the pod object exists.
 */
import { describe, expect, it } from 'vitest';
import { randomStory } from '../sim/random-story.ts';
import type { Story } from '../sim/story.ts';
import { resources } from '../sim/rows.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { observedLikeLive } from '../helpers/cases.ts';
import { delayedStreams, distort } from '../helpers/distort.ts';
import type { PrefixCheck, Truths } from '../helpers/prefixes.ts';
import { checkPrefixes } from '../helpers/prefixes.ts';
import { recordingNames, rowsOf, truthsOf } from '../helpers/recordings.ts';
import { seeded } from '../helpers/seeded.ts';
import { rawObservationsOfStory, simulated } from '../helpers/simulated.ts';
import { isSweep, rounds } from '../helpers/sweep.ts';
import { nanoTime } from '../helpers/truth.ts';

const stories = Number(process.env['PODEXIT_STORIES'] ?? rounds(3, 300));

/** The largest share of stories in which podexit withdraws a claim about a hook because its Event alone is late. */
const maxBrokenShare = 0.004;

/** Later seeds in which podexit once withdrew a claim: about a hook or a signal for a late Event, about readiness for an exit. */
const found = [20, 123, 745, 901, 2004, 2189];
const seeds = [...new Set([...Array.from({ length: stories }, (_, index) => index + 1), ...found])];

/** Each has streams that others lack: hooks, several containers, a restarted kubelet. */
const lateNames = new Set(['prestop-exceeds-grace', 'native-sidecar', 'kubelet-restart']);

const check = (rawObservations: Iterable<RawObservation>, truths: Truths): PrefixCheck =>
  checkPrefixes(observedLikeLive(rawObservations), truths);

describe.each(recordingNames.filter((name) => isSweep || lateNames.has(name)))('during %s', (name) => {
  const stamps = { 'stop-signal': 'stop_signal_sent', kill: 'sigkill_sent', exited: 'exited' } as const;
  const truths: Truths = (id) => {
    const [mark = '', container] = id.split('/');
    const truth = truthsOf(name).find((one) => one.container === container);
    const stamp = mark in stamps ? truth?.[stamps[mark as keyof typeof stamps]] : undefined;
    return stamp === undefined ? undefined : nanoTime(stamp);
  };

  it('podexit withdraws no claim and makes no untrue one', async () => {
    const { broken, compared } = check(narrowToPod(rowsOf(name)), truths);
    expect(broken).toEqual([]);
    expect(compared).toBeGreaterThan(5);
  });

  it('podexit withdraws no claim if every stream is up to 2 s late', async () => {
    const rawObservations = [...narrowToPod(rowsOf(name))];
    for (let seed = 1; seed <= rounds(1, 3); seed += 1) {
      const random = seeded(seed * 7919);
      const delay = Object.fromEntries(delayedStreams.map((stream) => [stream, random() * 2000]));
      const still = { offset: 0, drift: 0 };
      const late = distort(rawObservations, { api: still, node: still, delay }, truthsOf(name));
      expect(check(late, truths).broken, JSON.stringify(delay)).toEqual([]);
    }
  });
});

/** Each stream has its own delay, constant or varying. */
function slowed(story: Story): Story {
  const random = seeded(story.seed);
  const span = (): readonly [number, number] => {
    const longest = random() * 2000;
    return random() < 0.5 ? [longest, longest] : [1, longest + 1];
  };
  const watchMs = Object.fromEntries(resources.map((resource) => [resource, span()]));
  return { ...story, network: { ...story.network, watchMs, logMs: span() } };
}

it.each([
  ['without delays', (story: Story) => story],
  ['on streams that are up to 2 s late', slowed],
])('podexit withdraws no claim in simulated exits %s', { timeout: 600_000 }, (_how, change) => {
  let compared = 0;
  const broken: string[] = [];
  for (const seed of seeds) {
    const story = change(randomStory(seed));
    const checked = checkStory(story);
    if (checked.broken.length > 0) broken.push(`seed ${seed}: ${checked.broken.join('; ')}: ${JSON.stringify(story)}`);
    compared += checked.compared;
  }
  expect(broken.length, broken.join('\n')).toBeLessThanOrEqual(seeds.length * maxBrokenShare);
  expect(compared).toBeGreaterThan(stories * 50);
});

function checkStory(story: Story): PrefixCheck {
  const { expected } = simulated(story);
  // A kubelet that freezes between the hook and its next call breaks a named assumption without leaving evidence.
  const isFrozen = story.faults.some(({ kind }) => kind === 'freeze');
  return check(rawObservationsOfStory(story), (id) => {
    const [mark = '', subject] = id.split('/');
    if (isFrozen && (mark === 'prestop-ended' || mark === 'stop-signal')) return undefined;
    const name = mark === 'prestop-ended' ? 'prestop-end' : mark === 'acknowledged' ? 'noticed' : mark;
    const truth = expected.instants.find((one) => one.name === name && one.subject === subject);
    return truth && nanoTime(truth.client);
  });
}
