/** The few numbers that every document leads with, so that all of them say the same. */
import type { ExitReport, Instant, Phase, PhaseName, Range } from '../trace/report.ts';
import { formatSeconds, formatShare, weaker } from './duration.ts';
import { millis, offsetRange, zeroOf } from './offsets.ts';

export interface Measured {
  readonly range: Range;
  readonly basis: Instant['basis'];
}

/** From the request to the removal of the object; undefined while it is still there. */
export function lasted(report: ExitReport): Measured | undefined {
  const removed = report.marks.find(({ name }) => name === 'removed');
  const range = removed && offsetRange(zeroOf(report), removed.at);
  if (removed === undefined || range === undefined) return undefined;
  const requested = report.marks.find(({ name }) => name === 'requested');
  return {
    range: { min: Math.max(0, range.min), max: Math.max(0, range.max) },
    basis: weaker(requested?.at.basis ?? 'inferred', removed.at.basis),
  };
}

/** Phases that a container's grace is spent on; they follow one another. */
const spending: readonly PhaseName[] = ['prestop', 'sidecar-wait', 'drain', 'overtime'];

/** The share of the grace that the longest container used; undefined where no container had to be stopped. */
export function usedOfGrace(report: ExitReport): Measured | undefined {
  const spent = report.phases.filter(({ name }) => spending.includes(name));
  const subjects = [...new Set(spent.map(({ subject }) => subject))];
  const shares = subjects.map((subject) =>
    share(
      spent.filter((phase) => phase.subject === subject),
      report.grace.effectiveSeconds,
    ),
  );
  return shares.filter((measured) => measured !== undefined).sort((a, b) => b.range.max - a.range.max)[0];
}

export function describeLasted(report: ExitReport): string | undefined {
  const measured = lasted(report);
  return measured && formatSeconds(measured.range, measured.basis);
}

export function describeUsed(report: ExitReport): string | undefined {
  const measured = usedOfGrace(report);
  return measured && formatShare(measured.range, measured.basis);
}

/** What the report's trigger means to a reader. */
export const triggerText: Record<ExitReport['trigger']['kind'], string> = {
  'this-command': 'this command',
  'eviction-api': 'the Eviction API',
  preemption: 'preemption by a more important pod',
  taint: 'a taint on its node',
  'device-taint': 'a taint on a device',
  'pod-gc': 'the pod garbage collector',
  rollout: 'a rollout of its owner',
  'scale-down': 'a scale-down of its owner',
  'owner-deleted': 'the deletion of its owner',
  job: 'its Job',
  'namespace-deletion': 'the deletion of its namespace',
  unknown: 'unknown',
};

/** From the start of the first phase to the end of the last: adding lengths up would count each uncertain edge twice. */
function share(phases: readonly Phase[], graceSeconds: number): Measured | undefined {
  const starts = phases.map(({ start }) => start).sort(byEarliest);
  const ends = phases.map(({ end }) => end).sort(byEarliest);
  const [first, last] = [starts[0], ends.at(-1)];
  const [from, to] = [first && offsetRange(0, first), last && offsetRange(0, last)];
  if (!first || !last || !from || !to || graceSeconds <= 0) return undefined;
  return {
    range: { min: Math.max(0, to.min - from.max) / graceSeconds, max: Math.max(0, to.max - from.min) / graceSeconds },
    basis: weaker(first.basis, last.basis),
  };
}

const byEarliest = (a: Instant, b: Instant): number => (millis(a.earliest) ?? 0) - (millis(b.earliest) ?? 0);
