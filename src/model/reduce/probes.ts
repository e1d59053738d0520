import type { ObservationOf } from '../observation.ts';
import { sumByKey, sumOf } from '../probe-numbers.ts';
import type { ProbeCounts, ProbeFailures } from '../probe-observation.ts';
import type { Fact, ProbeFacts, Trace } from '../trace.ts';
import { factOf, addNote, withEntry } from './notes.ts';

export function foldProbeStarted(trace: Trace, o: ObservationOf<'probe-started'>): Trace {
  if (trace.probes.has(o.probe)) return trace;
  return addNote(withProbe(trace, { started: factOf(o, o), slices: [] }), o, `probe of ${o.target} began`);
}

export function foldProbeCounts(trace: Trace, o: ObservationOf<'probe-counts'>): Trace {
  const known = trace.probes.get(o.probe);
  if (!known || (known.slices.at(-1)?.seq ?? -1) >= o.seq) return trace;
  const next = withProbe(trace, { ...known, slices: mergeNeighbours([...known.slices, factOf(o, o)]) });
  if (o.failures.length === 0 && !o.notMeasured) return next;
  const { sent, failed } = sumOf([o.new, o.kept]);
  return addNote(next, o, `${known.started.value.target}: ${sent} requests, ${failed} failed`);
}

const withProbe = (trace: Trace, facts: ProbeFacts): Trace => ({
  ...trace,
  probes: withEntry(trace.probes, facts.started.value.probe, facts),
});

/** Slices of half a second in ten minutes. */
const maxSlices = 1200;

/** In a run of hours, neighbouring slices are merged; failures in them keep their times. */
function mergeNeighbours(slices: readonly Fact<ProbeCounts>[]): readonly Fact<ProbeCounts>[] {
  if (slices.length <= maxSlices) return slices;
  return slices.flatMap((slice, index) => {
    const next = slices[index + 1];
    if (index % 2 === 1) return [];
    return next ? [{ ...next, value: mergeCounts(slice.value, next.value) }] : [slice];
  });
}

function mergeCounts(one: ProbeCounts, other: ProbeCounts): ProbeCounts {
  return {
    ...other,
    since: one.since,
    new: sumOf([one.new, other.new]),
    kept: other.kept && sumOf([one.kept, other.kept]),
    failures: mergeFailures(one.failures, other.failures),
    latency: [...sumByKey([...one.latency, ...other.latency])],
    answered: other.answered ? { ...other.answered, ...(one.answered && { first: one.answered.first }) } : one.answered,
    notMeasured: [...(one.notMeasured ?? []), ...(other.notMeasured ?? [])],
  };
}

/** Failures at most a second apart become one: a target that fails for hours would fill the memory. */
function mergeFailures(some: readonly ProbeFailures[], others: readonly ProbeFailures[]): ProbeFailures[] {
  const all = some.map((one) => ({ ...one }));
  for (const other of others) {
    const same = all.find((one) => isSameKind(one, other) && other.first - one.last <= 1000);
    if (same) Object.assign(same, { last: Math.max(same.last, other.last), count: same.count + other.count });
    else all.push(other);
  }
  return all;
}

const isSameKind = (one: ProbeFailures, other: ProbeFailures): boolean =>
  one.kind === other.kind && one.connection === other.connection && one.status === other.status;
