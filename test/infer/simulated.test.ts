/**
 * Thousands of simulated exits whose truth is known: no instant misses it, no outcome is wrong, and nearly everything
 * that happened is reported, with useful intervals. A failing seed prints its story, which then becomes a case.
 */
import { expect, it } from 'vitest';
import type { InstantName } from '../sim/expected.ts';
import { randomStory } from '../sim/random-story.ts';
import type { Judged } from '../helpers/simulated.ts';
import { judgeStory } from '../helpers/simulated.ts';
import { rounds } from '../helpers/sweep.ts';

/** The largest share of exits whose outcome is unknown although it could be known. That is no false claim. */
const maxUnknownShare = 0.001;

const stories = Number(process.env['PODEXIT_STORIES'] ?? rounds(200, 5000));
const first = Number(process.env['PODEXIT_FIRST'] ?? 1);

/** An interval wider than this (ms) is not useful. */
const useful = 5000;

/**
 * The largest share of exits with a signal that nobody sent: a container that ended by itself just when its stop signal
 * was due looks like one that obeyed.
 */
const maxUnsentShare = 0.015;

/**
 * The smallest share of events that is reported usefully. Nothing reports successful hooks and the signals after them.
 */
const floors: Record<InstantName, number> = {
  requested: 1,
  accepted: 1,
  noticed: 0.94,
  'prestop-start': 0.93,
  'prestop-end': 0.65,
  'stop-signal': 0.75,
  // Not dated where the end may as well have been the application's own exit with 137, a kill for memory, another grace or a
  // clock that was set: an application that still spoke in the second in which its grace ended leaves that open.
  kill: 0.42,
  exited: 0.84,
  unrouted: 0.98,
  'endpoint-removed': 0.98,
  'containers-done': 0.92,
  'final-delete': 0.96,
  removed: 0.99,
  // A report tells one replacement, and does not wait until it is ready.
  'replacement-created': 0.75,
  'replacement-scheduled': 0.6,
  'replacement-started': 0.6,
  'replacement-ready': 0.5,
};

it(`judges ${stories} simulated exits without a miss, and tells what happened in them`, { timeout: 1_200_000 }, () => {
  const wrong: string[] = [];
  const unsent: string[] = [];
  let unclear = 0;
  const instants: Judged['instants'] = [];
  for (let seed = first; seed < first + stories; seed += 1) {
    const story = randomStory(seed);
    const judged = judgeStory(story);
    instants.push(...judged.instants);
    if (judged.unsent.length > 0) unsent.push(`seed ${seed}: ${judged.unsent.join('; ')}`);
    const claimed = judged.wrong.filter((line) => !/ unknown, not /.test(line));
    if (claimed.length > 0) wrong.push(`seed ${seed}: ${claimed.join('; ')}\n${JSON.stringify(story)}`);
    else if (judged.wrong.length > 0) unclear += 1;
  }
  expect(wrong).toEqual([]);
  expect(unclear).toBeLessThanOrEqual(stories * maxUnknownShare);
  expect(unsent.length, unsent.join('\n')).toBeLessThanOrEqual(Math.max(1, stories * maxUnsentShare));
  const shares = Object.keys(floors).map((name) => [name, shareOf(instants, name)] as const);
  expect(shares.filter(([name, share]) => !(share >= floors[name as InstantName]))).toEqual([]);
});

/** The share of instants with this name that is reported usefully; NaN if there was none. */
function shareOf(instants: Judged['instants'], name: string): number {
  const all = instants.filter((one) => one.name === name);
  return all.filter(({ width }) => width !== undefined && width <= useful).length / all.length;
}
