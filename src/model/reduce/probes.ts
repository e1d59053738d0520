import type { ObservationOf } from '../observation.ts';
import { sumOf } from '../probe-numbers.ts';
import type { ProbeCounts, ProbeFailures } from '../probe-observation.ts';
import type { Fact, ProbeFacts, Trace } from '../trace.ts';
import { factOf, note, withEntry } from './notes.ts';

export function foldProbeStarted(trace: Trace, o: ObservationOf<'probe-started'>): Trace {
  if (trace.probes.has(o.probe)) return trace;
  return note(withProbe(trace, { started: factOf(o, o), slices: [] }), o, `probe of ${o.target} began`);
}

export function foldProbeCounts(trace: Trace, o: ObservationOf<'probe-counts'>): Trace {
  const known = trace.probes.get(o.probe);
  if (!known || (known.slices.at(-1)?.seq ?? -1) >= o.seq) return trace;
  const next = withProbe(trace, { ...known, slices: mergeNeighbours([...known.slices, factOf(o, o)]) });
  if (o.failures.length === 0 && !o.notMeasured) return next;
  const { sent, failed } = sumOf([o.new, o.kept]);
  return note(next, o, `${known.started.value.target}: ${sent} requests, ${failed} failed`);
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
  const pairs: Fact<ProbeCounts>[] = [];
  for (let index = 0; index < slices.length; index += 2) {
    const [one, other] = [slices[index], slices[index + 1]];
    if (one) pairs.push(other ? { value: mergeCounts(one.value, other.value), seq: other.seq, at: other.at } : one);
  }
  return pairs;
}

function mergeCounts(one: ProbeCounts, other: ProbeCounts): ProbeCounts {
  const latency = new Map(one.latency);
  for (const [bucket, count] of other.latency) latency.set(bucket, (latency.get(bucket) ?? 0) + count);
  return {
    ...other,
    since: one.since,
    new: sumOf([one.new, other.new]),
    kept: one.kept && other.kept && sumOf([one.kept, other.kept]),
    failures: mergeFailures(one.failures, other.failures),
    latency: [...latency],
    answered: mergeAnswered(one.answered, other.answered),
    notMeasured: [...(one.notMeasured ?? []), ...(other.notMeasured ?? [])],
  };
}

/** ms; failures that are further apart are not merged. */
const maxDistanceMs = 1000;

function mergeFailures(some: readonly ProbeFailures[], others: readonly ProbeFailures[]): ProbeFailures[] {
  const all = some.map((one) => ({ ...one }));
  for (const other of others) {
    const same = all.find((one) => isSameKind(one, other) && other.first - one.last <= maxDistanceMs);
    if (same) Object.assign(same, { last: Math.max(same.last, other.last), count: same.count + other.count });
    else all.push(other);
  }
  return all;
}

const isSameKind = (one: ProbeFailures, other: ProbeFailures): boolean =>
  one.kind === other.kind && one.connection === other.connection && one.status === other.status;

function mergeAnswered(one: ProbeCounts['answered'], other: ProbeCounts['answered']): ProbeCounts['answered'] {
  if (!one || !other) return one ?? other;
  return { first: one.first, lastSent: Math.max(one.lastSent, other.lastSent) };
}
