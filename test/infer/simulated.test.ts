/**
 * Thousands of simulated exits whose truth is known: every instant contains it, no outcome is wrong, and the report has
 * nearly everything that happened, with useful intervals. A failing seed prints its story, which then becomes a case.
 */
import { isDeleted, judgeStory, storyOfSeed, type Judged } from '../helpers/simulated.ts';
import { rounds } from '../helpers/sweep.ts';
import { withoutEvents } from '../helpers/views.ts';
import type { InstantName } from '../sim/expected.ts';
import { storiesOfOneNode, troubledStory, troubles, type Trouble } from '../sim/troubled-story.ts';
import { expect, it } from 'vitest';

/** The largest share of exits whose outcome is unknown although it could be known. That is no false claim. */
const maxUnknownShare = 0.001;

const stories = Number(process.env['PODEXIT_STORIES'] ?? rounds(150, 5000));
const first = Number(process.env['PODEXIT_FIRST'] ?? 1);

/** An interval wider than this (ms) is not useful. */
const useful = 5000;

/**
 * The largest share of exits with a reported signal that was never sent: a container that exits by itself just when its
 * stop signal is due looks as if the signal had stopped it.
 */
const maxUnsentShare = 0.015;

/**
 * The largest share of stories in which an interval misses the truth without Events: a kubelet that hangs for a minute
 * acknowledges late, in 1 of 1,500. May only go down.
 */
const maxMissedShare = 1 / 1000;

/**
 * The smallest share of instants that is reported usefully. Kubernetes reports neither successful hooks nor the signals
 * after them.
 */
const floors: Record<InstantName, number> = {
  requested: 1,
  accepted: 1,
  noticed: 0.94,
  'prestop-start': 0.93,
  'prestop-end': 0.65,
  'stop-signal': 0.72,
  // A kill has no time if the exit may also be the application's own 137, an OOM kill, the end of another grace period,
  // or if a clock was set. An application that still logs in the second in which its grace period ends leaves this
  // open.
  kill: 0.42,
  exited: 0.84,
  unrouted: 0.98,
  'endpoint-removed': 0.98,
  'containers-done': 0.92,
  'final-delete': 0.96,
  removed: 0.99,
  // A report has only one replacement, and does not wait until it is ready.
  'replacement-created': 0.75,
  'replacement-scheduled': 0.6,
  'replacement-started': 0.6,
  'replacement-ready': 0.5,
};

it(
  `judges ${stories} simulated exits without a false claim, also without Events, and reports most of what happened`,
  { timeout: 1_200_000 },
  () => {
    const wrong: string[] = [];
    const unsent: string[] = [];
    const missed: string[] = [];
    let unclear = 0;
    const instants: Judged['instants'] = [];
    for (let seed = first; seed < first + stories; seed += 1) {
      const story = storyOfSeed(seed);
      const judged = judgeStory(story);
      instants.push(...judged.instants);
      if (judged.unsent.length > 0) unsent.push(`seed ${seed}: ${judged.unsent.join('; ')}`);
      const claimed = judged.wrong.filter((line) => !/ unknown, not /.test(line));
      if (claimed.length > 0) wrong.push(`seed ${seed}: ${claimed.join('; ')}\n${JSON.stringify(story)}`);
      else if (judged.wrong.length > 0) unclear += 1;
      const less = judgeStory(story, withoutEvents).wrong.filter((what) => what.includes(', claimed '));
      if (less.length > 0) missed.push(`seed ${seed} without Events: ${less.join('; ')}`);
    }
    expect(wrong).toEqual([]);
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(stories * maxMissedShare);
    expect(unclear).toBeLessThanOrEqual(stories * maxUnknownShare);
    expect(unsent.length, unsent.join('\n')).toBeLessThanOrEqual(Math.max(1, stories * maxUnsentShare));
    const shares = Object.keys(floors).map((name) => [name, shareOf(instants, name)] as const);
    expect(shares.filter(([name, share]) => !(share >= floors[name as InstantName]))).toEqual([]);
  },
);

/** The share of instants with this name that is reported usefully; NaN if there was none. */
function shareOf(instants: Judged['instants'], name: string): number {
  const all = instants.filter((one) => one.name === name);
  return all.filter(({ width }) => width !== undefined && width <= useful).length / all.length;
}

/** The known shares of stories with an instant outside its interval. They may only go down. */
const knownMissShares: Partial<Record<Trouble, number>> = { 'api-overloaded': 0.36, 'events-refused': 0.001 };

it.each(troubles)('%s: no more stories than known have a false claim', (trouble) => {
  // To measure a share takes more stories.
  const stories = rounds((knownMissShares[trouble] ?? 0) < 0.01 ? 12 : 40, 2000);
  const wrong: string[] = [];
  for (let seed = 1; seed <= stories; seed += 1) {
    const story = troubledStory(seed, trouble);
    if (!isDeleted(story)) continue;
    const judged = judgeStory(story);
    // An unknown outcome is not a false claim.
    const claimed = judged.wrong.filter((line) => !/ unknown, not /.test(line));
    if (claimed.length > 0) wrong.push(`seed ${seed}: ${claimed.join('; ')}`);
  }
  expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(stories * (knownMissShares[trouble] ?? 0));
});

it('several pods of one node, each traced alone: no claim is false', () => {
  for (let seed = 1; seed <= rounds(3, 200); seed += 1)
    for (const story of storiesOfOneNode(seed, 5)) expect(judgeStory(story).wrong, JSON.stringify(story)).toEqual([]);
});
