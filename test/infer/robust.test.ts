/**
 * Recordings with distorted clocks and networks: every interval contains the truth, no outcome changes (except to
 * unknown), and most instants stay narrow enough to be useful. Seeded: a failure names its seed.
 */
import { expect, it } from 'vitest';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { observedLikeLive } from '../helpers/cases.ts';
import { delayedStreams, distort } from '../helpers/distort.ts';
import type { Distortion } from '../helpers/distort.ts';
import { mustReport, rowsOf, recordingNames, traceOf, truthsOf } from '../helpers/recordings.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { expected } from './expected.ts';
import { seeded } from '../helpers/seeded.ts';
import { rounds } from '../helpers/sweep.ts';

const still: Distortion = { api: { offset: 0, drift: 0 }, node: { offset: 0, drift: 0 }, delay: {} };
const seeds = Number(process.env['PODEXIT_ROUNDS'] ?? rounds(1, 20));

const cases: Record<string, (random: () => number, start: number, end: number) => Distortion> = {
  'a node clock up to 90 s off': (random) => ({ ...still, node: { offset: (random() - 0.5) * 180_000, drift: 0 } }),
  'an API server clock up to 3 s off': (random) => ({ ...still, api: { offset: (random() - 0.5) * 6000, drift: 0 } }),
  'both clocks off and drifting': (random) => ({
    ...still,
    api: { offset: (random() - 0.5) * 6000, drift: (random() - 0.5) * 0.4 },
    node: { offset: (random() - 0.5) * 180_000, drift: (random() - 0.5) * 0.4 },
  }),
  'every stream up to 2 s late': (random) => ({
    ...still,
    delay: Object.fromEntries(delayedStreams.map((stream) => [stream, random() * 2000])),
  }),
  'one stream lost': (random) => ({
    ...still,
    without: delayedStreams[1 + Math.floor(random() * (delayedStreams.length - 1))],
  }),
  'logs cut': (random, start, end) => ({
    ...still,
    cutLogs: { at: Math.floor(start + random() * (end - start)), clean: random() < 0.5 },
  }),
  'all at once': (random, start, end) => ({
    api: { offset: (random() - 0.5) * 6000, drift: (random() - 0.5) * 0.4 },
    node: { offset: (random() - 0.5) * 180_000, drift: (random() - 0.5) * 0.4 },
    delay: Object.fromEntries(delayedStreams.map((stream) => [stream, random() * 2000])),
    ...(random() < 0.4 ? { without: delayedStreams[1 + Math.floor(random() * (delayedStreams.length - 1))] } : {}),
    ...(random() < 0.4 ? { cutLogs: { at: Math.floor(start + random() * (end - start)), clean: random() < 0.5 } } : {}),
  }),
};

it.each(Object.keys(cases))('%s: every instant contains the truth, and no duration is negative', async (name) => {
  const missed: string[] = [];
  let held = 0;
  let useful = 0;
  for (const recording of recordingNames) {
    const truths = truthsOf(recording);
    const rawObservations = [...narrowToPod(rowsOf(recording))];
    for (let seed = 1; seed <= seeds; seed += 1) {
      const random = seeded(seed * 7919);
      const { distorted, how } = distortedBy(rawObservations, cases[name], random, recording);
      const report = mustReport(traceOf(observedLikeLive(distorted)));
      const all = heldAgainst(report, truths);
      held += all.length;
      useful += all.filter(({ width }) => width <= usefulMs).length;
      missed.push(
        ...otherOutcomes(report, recording).map(
          (what) => `${recording} seed ${seed}: ${what} with ${JSON.stringify(how)}`,
        ),
      );
      for (const one of all)
        if (!one.hit)
          missed.push(`${recording} seed ${seed}: ${one.instant} of ${one.container} with ${JSON.stringify(how)}`);
      if (report.phases.some((phase) => phase.seconds.min < 0))
        missed.push(`${recording} seed ${seed}: a negative duration`);
    }
  }
  expect(missed).toEqual([]);
  // The truth of all recordings together has 55 instants.
  expect(held).toBeGreaterThan(seeds * 46);
  expect(useful).toBeGreaterThan(seeds * 40);
});

/** ms. */
const usefulMs = 5000;

/** With less evidence an outcome may become unknown, but not any other outcome. */
const otherOutcomes = ({ containers }: ExitReport, recording: string): string[] =>
  containers.flatMap(({ name, outcome }) =>
    [expected[recording]?.containers[name], 'unknown'].includes(outcome) ? [] : [`${name} ${outcome}`],
  );

function distortedBy(
  rawObservations: RawObservation[],
  make: (typeof cases)[string] | undefined,
  random: () => number,
  recording: string,
): { distorted: RawObservation[]; how: Distortion } {
  const request = rawObservations.find((one) => one.kind === 'requested')?.at ?? rawObservations[0]?.at ?? 0;
  const how = make?.(random, request, rawObservations.at(-1)?.at ?? request) ?? still;
  return { distorted: distort(rawObservations, how, truthsOf(recording)), how };
}
