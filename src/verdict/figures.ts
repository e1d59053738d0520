/**
 * The two figures that every document, summary and test result leads with, from a report alone, so that all of them say the
 * same. Pure.
 */
import type { ExitReport, Instant, Phase, PhaseName, Range } from '../model/report.ts';
import { parseTime } from '../model/stamps.ts';

/** A range, and whether it was inferred. */
export interface Measured {
  readonly range: Range;
  readonly basis: Instant['basis'];
}

/**
 * Seconds from the request, or from the acceptance where it was not ours, to the removal of the object; undefined while it is
 * still there. Infinite above where nothing bounds the beginning.
 */
export function lasted({ marks }: ExitReport): Measured | undefined {
  const from = (marks.find(({ name }) => name === 'requested') ?? marks.find(({ name }) => name === 'accepted'))?.at;
  const to = marks.find(({ name }) => name === 'removed')?.at;
  return from && to && { range: apart(from, to), basis: weaker(from.basis, to.basis) };
}

/** The ratio of the grace that the longest container used; undefined where no container had to be stopped. */
export function usedOfGrace({ phases, grace }: ExitReport): Measured | undefined {
  const spent = phases.filter(({ name }) => spending.includes(name));
  const subjects = [...new Set(spent.map(({ subject }) => subject))];
  const shares = subjects.flatMap(
    (subject) =>
      share(
        spent.filter((phase) => phase.subject === subject),
        grace.effectiveSeconds,
      ) ?? [],
  );
  return shares.sort((a, b) => b.range.max - a.range.max)[0];
}

/** Phases that a container's grace is spent on; they follow one another, and overtime is the last part of the drain. */
const spending: readonly PhaseName[] = ['prestop', 'sidecar-wait', 'drain'];

/**
 * Two ways to the same figure, each with an uncertainty that the other does not have: the lengths one by one know that their ends
 * hang together, and count each edge between two of them twice; first start and last end count no edge twice.
 */
function share(phases: readonly Phase[], graceSeconds: number): Measured | undefined {
  const first = phases.map(({ start }) => start).sort(byEarliest)[0];
  const last = phases
    .map(({ end }) => end)
    .sort(byEarliest)
    .at(-1);
  if (!first || !last) return undefined;
  const basis = weaker(first.basis, last.basis);
  const added = {
    min: phases.reduce((sum, { ofGrace }) => sum + ofGrace.min, 0),
    max: phases.reduce((sum, { ofGrace }) => sum + ofGrace.max, 0),
  };
  if (graceSeconds <= 0) return { range: added, basis };
  const whole = apart(first, last);
  const both = {
    min: Math.max(added.min, whole.min / graceSeconds),
    max: Math.min(added.max, whole.max / graceSeconds),
  };
  return { range: both.min <= both.max ? both : added, basis };
}

/** Seconds; what nothing bounds from below has no stamp that anybody means for its earliest. */
function apart(from: Instant, to: Instant): Range {
  const [start, end] = [parseTime(from.earliest) ?? -Infinity, parseTime(to.earliest) ?? -Infinity];
  return {
    min: Math.max(0, end - (parseTime(from.latest) ?? Infinity)) / 1000,
    max: Math.max(0, (parseTime(to.latest) ?? Infinity) - start) / 1000,
  };
}

/** The less certain of two. */
const weaker = (a: Instant['basis'], b: Instant['basis']): Instant['basis'] => (a === 'inferred' ? a : b);

const byEarliest = (a: Instant, b: Instant): number =>
  (parseTime(a.earliest) ?? -Infinity) - (parseTime(b.earliest) ?? -Infinity);
