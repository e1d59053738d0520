/** Observations of one turn of the event loop are shown together, and the recording marks them as together. */
import { expect, it } from 'vitest';
import { afterInput } from '../../src/run/clock.ts';
import { run, type Source } from '../../src/run/run.ts';
import { tracesOfLog } from '../../src/run/traces/traces.ts';
import type { Observation, RawObservation } from '../../src/model/observation.ts';
import { rawObservationsOf } from '../helpers/recordings.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A live run whose raw observations arrive in these turns. Returns what was shown, by seq, and the log. */
async function shownOf(source: Source) {
  const shown: number[] = [];
  const log: Observation[] = [];
  await run({
    traces: tracesOfLog(),
    source,
    logText: true,
    audience: { step: (_, { seq }) => void shown.push(seq) },
    record: (observations) => void log.push(...observations),
    ...(typeof source === 'function' ? { afterInput } : {}),
  });
  return { shown, log };
}

const inTurns =
  (turns: readonly (readonly RawObservation[])[]): Source =>
  async (deliver) => {
    for (const one of turns) {
      one.forEach(deliver);
      await turn();
    }
  };

const line = (at: number): RawObservation => ({ kind: 'line', at, container: 'app', time: '2026-01-01T00:00:00Z' });

it('each turn shows its newest trace and every log line', async () => {
  const all = (await rawObservationsOf('graceful-exit')).filter(({ kind }) => kind !== 'dated');
  const [began, first, second, third] = all as [RawObservation, RawObservation, RawObservation, RawObservation];
  const { shown, log } = await shownOf(inTurns([[began, first], [line(second.at), second, line(third.at), third], []]));
  expect(shown).toEqual([2, 3, 5, 6]);
  expect(log.map(({ together = false }) => together)).toEqual([false, true, false, true, true, true]);
});

it('a replay of the recorded observations shows the same', async () => {
  const all = await rawObservationsOf('sigkill-after-grace');
  const turns = all.flatMap((_, index) => (index % 3 === 0 ? [all.slice(index, index + 3)] : []));
  const live = await shownOf(inTurns(turns));
  const replayed = await shownOf(live.log);
  expect(live.shown.length).toBeLessThan(all.length / 2);
  expect(replayed.shown).toEqual(live.shown);
});

it.each([4, 6])(
  'an error of the audience at observation %i of 6 ends the run, and all received observations are recorded',
  async (seen) => {
    const all = (await rawObservationsOf('graceful-exit')).slice(0, 6);
    const log: Observation[] = [];
    const ran = run({
      traces: tracesOfLog(),
      source: inTurns(all.map((one) => [one])),
      logText: false,
      audience: {
        step: (_, { seq }) => {
          if (seq === seen) throw new Error('seen enough');
        },
      },
      record: (observations) => void log.push(...observations),
      afterInput,
    });
    await expect(ran).rejects.toThrow('seen enough');
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: seen }, (_, index) => index + 1));
  },
);

it('every observation is recorded before it is shown', async () => {
  const all = await rawObservationsOf('sigkill-after-grace');
  const written = new Set<number>();
  const early: number[] = [];
  await run({
    traces: tracesOfLog(),
    source: inTurns(all.map((one, index) => [one, line(index)])),
    logText: false,
    audience: { step: (_, { seq }) => void (written.has(seq) || early.push(seq)) },
    record: (observations) => observations.forEach(({ seq }) => written.add(seq)),
    afterInput,
  });
  expect(written.size).toBeGreaterThan(all.length);
  expect(early).toEqual([]);
});
