/** In a run over several pods those of a node share what they show of its clock: narrower, and never falsely so. */
import { describe, expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import type { Sighting } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import type { Trace } from '../../src/model/trace.ts';
import { openReplay } from '../../src/run/replay.ts';
import { createTraces } from '../../src/run/traces.ts';
import { bend } from '../helpers/bend.ts';
import { exitReportFrom } from '../helpers/exit-report.ts';
import { recordingFile, truthsOf } from '../helpers/recordings.ts';
import type { Held } from '../helpers/truth.ts';
import { heldAgainst } from '../helpers/truth.ts';

const runs = ['rollout-25', 'scale-to-zero-40', 'statefulset-rollout'] as const;

describe.each(runs)('in the run %s', (name) => {
  it('every truth lies inside, and no width grows by the sharing', async () => {
    const sightings = await sightingsOf(name);
    const [shared, alone] = [heldIn(name, reportsOf(sightings)), heldIn(name, reportsOf(sightings, unshared))];
    expect(shared.filter(({ hit }) => !hit)).toEqual([]);
    expect(shared.length).toBe(alone.length);
    expect(shared.filter((one, index) => one.width > (alone[index]?.width ?? 0) + 1)).toEqual([]);
    expect(medianOf(shared)).toBeLessThanOrEqual(medianOf(alone));
  });

  it.each([-2000, -400, -150, -60, 60, 150, 400, 2000])(
    'a node clock set by %i ms half-way misleads nobody',
    async (by) => {
      const sightings = await sightingsOf(name);
      const half = middleOf(sightings);
      const bent = sightings.map((one) => bentBy(name, one, { node: one.at < half ? 0 : by }));
      expect(heldIn(name, reportsOf(bent)).filter(({ hit }) => !hit)).toEqual([]);
    },
  );

  it.each([-90, -40, 40, 90])('API servers whose clocks are %i ms apart mislead nobody', async (by) => {
    const sightings = await sightingsOf(name);
    const bent = sightings.map((one) => bentBy(name, one, { api: isOdd(podOf(one)) ? by : 0 }));
    expect(heldIn(name, reportsOf(bent)).filter(({ hit }) => !hit)).toEqual([]);
  });
});

it('makes the rollout of 25 pods narrower', async () => {
  const sightings = await sightingsOf('rollout-25');
  const widths = [unshared, (trace: Trace) => trace].map((as) =>
    medianOf(heldIn('rollout-25', reportsOf(sightings, as))),
  );
  expect(widths[1]).toBeLessThan((widths[0] ?? 0) * 0.9);
});

const unshared = ({ shared: _, ...trace }: Trace): Trace => trace;

async function sightingsOf(name: string): Promise<Sighting[]> {
  const { sightings } = await openReplay(recordingFile(name), () => {});
  const all: Sighting[] = [];
  for await (const one of sightings) all.push(one);
  return all;
}

/** The report of each pod, as it is made when its exit is over. */
function reportsOf(sightings: readonly Sighting[], as = (trace: Trace): Trace => trace): ExitReport[] {
  const traces = createTraces();
  return sightings.flatMap((sighting, index) => {
    const observation = observe(sighting, index + 1, { logText: false });
    const over = traces.add(observation).filter((key) => observation.kind === 'timer' && observation.pod === key);
    return over.flatMap((key) => {
      const trace = traces.get(key);
      const report = trace && exitReportFrom(as(trace));
      traces.close(key);
      return report ?? [];
    });
  });
}

const heldIn = (name: string, reports: readonly ExitReport[]): Held[] =>
  reports.flatMap((report) =>
    heldAgainst(
      report,
      truthsOf(name).filter(({ pod }) => pod === report.pod.name),
    ),
  );

/** One sighting, where the clocks were ahead by so many ms. */
function bentBy(name: string, one: Sighting, { node = 0, api = 0 }: { node?: number; api?: number }): Sighting {
  const how = { node: { offset: node, drift: 0 }, api: { offset: api, drift: 0 }, delay: {} };
  const truths = truthsOf(name).filter(({ pod }) => pod === podOf(one));
  return bend([one], how, truths)[0] ?? one;
}

const podOf = (one: Sighting): string | undefined => {
  if (one.kind !== 'changed') return undefined;
  const { kind, metadata } = one.object as { kind: string; metadata: { name: string } };
  return kind === 'Pod' ? metadata.name : undefined;
};

const isOdd = (name = ''): boolean => name.charCodeAt(name.length - 1) % 2 === 1;

/** Client ms at which half of the pods have been seen to terminate. */
function middleOf(sightings: readonly Sighting[]): number {
  const over = sightings.flatMap((one) => (one.kind === 'timer' ? [one.at] : []));
  return over[over.length >> 1] ?? 0;
}

const medianOf = (held: readonly Held[]): number =>
  held.map(({ width }) => width).sort((a, b) => a - b)[held.length >> 1] ?? 0;
