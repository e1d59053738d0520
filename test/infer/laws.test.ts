import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecorder } from '../../src/recording/recorder.ts';
import { openReplay } from '../../src/run/recorded-run.ts';
import { run } from '../../src/run/run.ts';
import { tracesOfLog } from '../../src/run/traces/traces.ts';
import type { Interval, Timeline } from '../../src/infer/timeline.ts';
import { observe } from '../../src/model/observe.ts';
import { reduce } from '../../src/model/reduce.ts';
import {
  mustReport,
  observationsOf,
  tracedPodOf,
  recordingNames,
  rawObservationsOf,
  traceOf,
} from '../helpers/recordings.ts';

describe.each(recordingNames)('reducing %s', (name) => {
  it('does not change the earlier trace', async () => {
    const observations = observationsOf(await rawObservationsOf(name));
    const half = traceOf(observations.slice(0, Math.ceil(observations.length / 2)));
    const before = JSON.stringify(mustReport(half));
    observations.slice(Math.ceil(observations.length / 2)).reduce(reduce, half);
    expect(JSON.stringify(mustReport(half))).toBe(before);
  });

  it.each(['listed', 'changed'])('gives the same report if what is %s arrives twice', async (kind) => {
    const rawObservations = await rawObservationsOf(name);
    const twice = rawObservations.flatMap((one) => (one.kind === kind ? [one, one] : [one]));
    expect(withoutEvidence(mustReport(traceOf(observationsOf(twice))))).toEqual(
      withoutEvidence(mustReport(traceOf(observationsOf(rawObservations)))),
    );
  });

  it('gives the same report, byte for byte, when its own recording is replayed', async () => {
    const { file, trace: live } = await recordedRun(name, false);
    const { source: rawObservations } = await openReplay(file, (message) => expect.fail(message));
    const replayed = await run({ traces: tracesOfLog(), source: rawObservations, logText: false });
    expect(JSON.stringify(mustReport(replayed))).toBe(JSON.stringify(mustReport(live)));
  });

  it('narrows an observation only once: a recorded observation maps to itself', async () => {
    const once = observationsOf(await rawObservationsOf(name));
    const again = once.map(({ seq, ...rawObservation }) => observe(rawObservation, seq, { logText: false }));
    expect(again).toEqual(once);
  });

  it('records no environment, argument, address, annotation value or log text', async () => {
    const { file } = await recordedRun(name, true);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(
      /SIGTERM received|serving on|httpd|"command"|"args"|"env"|podIP|"addresses"|last-applied-configuration":"[^"]/,
    );
  });
});

it.each(recordingNames)(
  '%s: every shown time lies in its interval, and no effect is shown before its cause',
  async (name) => {
    let timelines = 0;
    for (const { observation, timeline } of (await tracedPodOf(name)).steps) {
      if (!timeline) continue;
      timelines += 1;
      for (const { id, at } of timeline.marks) expect(isInside(at), `${id} at ${observation.seq}`).toBe(true);
      expect(reversed(timeline)).toEqual([]);
    }
    expect(timelines).toBeGreaterThan(0);
  },
);

/** Sums of fractions differ by rounding (ms). */
const tick = 0.01;

const isInside = ({ shown, earliest, latest }: Interval): boolean =>
  shown >= earliest - tick && shown <= latest + tick && Number.isFinite(shown);

const causes = [
  ['stopping', 'stop-signal'],
  ['prestop-ended', 'stop-signal'],
  ['stop-signal', 'exited'],
  ['kill', 'exited'],
  ['containers-done', 'removed'],
  ['final-delete', 'removed'],
] as const;

/** Pairs of marks shown in the wrong order although their intervals allow the right one. */
const reversed = ({ marks }: Timeline): string[] =>
  causes.flatMap(([cause, effect]) =>
    marks.flatMap((from) =>
      marks.flatMap((to) => {
        const isPair = from.name === cause && to.name === effect && from.subject === to.subject;
        const mayFollow = from.at.earliest <= to.at.latest;
        return isPair && mayFollow && from.at.shown > to.at.shown + tick ? [`${from.id} after ${to.id}`] : [];
      }),
    ),
  );

/** Runs a recording again and records that run. */
async function recordedRun(name: string, logText: boolean) {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'run.ndjson');
  const header = { podexit: 1, program: 'test', recorded: '2026-01-01T00:00:00Z', logText: false } as const;
  const recorder = openRecorder(file, header);
  const source = await rawObservationsOf(name);
  const trace = await run({ traces: tracesOfLog(), source, logText, record: recorder.write });
  recorder.close();
  return { file, trace };
}

/** The report without the numbers of the observations that prove it. */
function withoutEvidence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEvidence);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'evidence' && key !== 'observations')
      .map(([key, item]) => [key, withoutEvidence(item)]),
  );
}
