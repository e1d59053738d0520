/** When a preStop hook was over, and how: its failure is told, its success never (SIGNALS.md §2 S6, §5). */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import { isStepped } from '../model/clock.ts';
import type { HookKind } from '../model/kube.ts';
import type { PreStopReport } from '../model/report.ts';
import type { Span } from '../model/span.ts';
import { earlierOf, second } from '../model/span.ts';
import type { Occurrence, Trace } from '../model/trace.ts';
import type { Estimate } from './estimate.ts';
import { cite, crossed, isBefore, moved, narrowed, notAfter, notBefore, onClient, onNode } from './estimate.ts';
import { graceSpan } from './grace.ts';
import type { Rounds } from './rounds.ts';
import { isNewRound, outlived } from './rounds.ts';
import type { Scene } from './scene.ts';
import { isWarningUntellable } from './tellable.ts';

/** What was told of its failure. */
export interface HookFailure {
  readonly failure: Occurrence | undefined;
  /** One was told that may be of an older story, of a liveness probe's for instance. */
  readonly doubted: boolean;
}

/** The hook as its pod declares it. */
interface Declared {
  readonly kind: HookKind;
  /** Of a sleep action, s. */
  readonly seconds: number | undefined;
  /** What a command that only sleeps takes, ms; 0 for any other. */
  readonly least: number;
}

/** When a hook was over, as far as that is known, and what became of it. */
export interface HookEnd {
  readonly end: Estimate;
  readonly outcome: PreStopReport['outcome'];
  /** It failed, and its container may have ended before it did: then no signal came. */
  readonly mayHaveDied?: true;
}

type Inputs = Rounds & HookFailure & Declared;

/** Of an exit that outlived every deadline without a failure both are open. */
export function hookEnd(scene: Scene, inputs: Inputs): HookEnd {
  const { began, kind, seconds, failure, lag } = inputs;
  const { kubelet } = scene;
  const whole = graceSpan(kubelet);
  const graceEnd = lastRound(scene, inputs, moved(began, whole), whole);
  const soon = { lo: 0, hi: millisecondsOf(lag) };
  // tcpSocket is no valid handler: it fails at once (trap 11).
  if (kind === 'tcpSocket') return { end: moved(began, soon), outcome: 'failed' };
  const late = inputs.ended !== undefined && outlived(kubelet, began, inputs.ended, lag);
  if (late && inputs.ended && !failure) return { end: onwards(began, inputs.ended), outcome: 'unknown' };
  // Also a sleep fails, under a kubelet that does not know of it.
  if (failure) return failedEnd(scene, inputs, failure, graceEnd, late ? { lo: 0, hi: Infinity } : soon);
  if (kind === 'sleep' && seconds !== undefined) return sleepEnd(scene, inputs, graceEnd, seconds);
  const latest = {
    ...graceEnd,
    client: { lo: began.client.lo, hi: graceEnd.client.hi + soon.hi },
    node: { lo: began.node.lo, hi: graceEnd.node.hi + soon.hi },
  };
  return unknownEnd(inputs, latest, graceEnd, scene.trace);
}

/** A kubelet that began anew counts anew, and runs the hook again (SIGNALS.md §2 S11). */
function lastRound({ kubelet }: Scene, { began, killings }: Inputs, first: Estimate, whole: Span): Estimate {
  const last = killings.length > 1 ? killings.at(-1) : undefined;
  if (!last) return first;
  const told = crossed(
    narrowed(onNode(last.time, [last.seq]), onClient({ lo: began.client.lo, hi: last.at + 1 }, [])),
    kubelet.clock,
  );
  const again = moved(told, whole);
  return {
    ...first,
    client: { lo: first.client.lo, hi: Math.max(first.client.hi, again.client.hi) },
    node: { lo: first.node.lo, hi: Math.max(first.node.hi, again.node.hi) },
    evidence: cite(first.evidence, [last.seq]),
  };
}

/** Nothing but the exit bounds it. */
const onwards = (began: Estimate, ended: Estimate): Estimate => ({
  client: { lo: began.client.lo, hi: ended.client.hi },
  node: { lo: began.node.lo, hi: ended.node.hi },
  basis: 'inferred',
  evidence: cite(began.evidence, ended.evidence),
});

/** A sleep action lasts as long as it says, and no longer than the grace. */
function sleepEnd(scene: Scene, { began, lag }: Inputs, graceEnd: Estimate, seconds: number): HookEnd {
  const [length, soon] = [seconds * second, { lo: 0, hi: millisecondsOf(lag) }];
  const own = moved(began, { lo: length - driftOver(length), hi: length + driftOver(length) + soon.hi });
  const cut = isBefore(graceEnd, { ...own, client: shiftHi(own.client, -soon.hi), node: shiftHi(own.node, -soon.hi) });
  const end = cut ? moved(graceEnd, soon) : noLaterThan(own, moved(graceEnd, soon));
  const over = allOver(scene);
  if (over && isBefore(over, end)) return { end: onwards(began, over), outcome: 'unknown' };
  return { end, outcome: cut ? 'cut-off' : isBefore(own, graceEnd) ? 'completed' : 'unknown' };
}

/**
 * The status that tells of the end of all waits for every hook (SIGNALS.md §2 S9). A kubelet in which sleeping is not
 * switched on passes it over without a word.
 */
const allOver = ({ trace: { terminal } }: Scene): Estimate | undefined =>
  terminal && onClient({ lo: -Infinity, hi: terminal.at + 1 }, [terminal.seq]);

/** Before the grace ended the hook failed by itself; after it, it was cut off and died with the container (trap 11). */
function failedEnd(scene: Scene, inputs: Inputs, failure: Occurrence, graceEnd: Estimate, soon: Span): HookEnd {
  const { kubelet, trace } = scene;
  const { began, killings, ended } = inputs;
  const told = toldAt(scene, began, failure);
  const again = isOfLaterRound(trace, failure, began, killings);
  // What fails after the container has ended died with it: a connection that broke, an exec that lost its process. The
  // kubelet's call has returned by then, at the failure or with the grace (SIGNALS.md §2 S6).
  const outlivedIt = ended !== undefined && isBefore(ended, told);
  if (outlivedIt && (isBefore(ended, graceEnd) || !isBefore(graceEnd, told))) {
    const end = again ? onwards(began, ended) : noLaterThan(told, moved(graceEnd, soon));
    return { end, outcome: 'unknown', mayHaveDied: true };
  }
  // Where its clock was set nothing may tell whether the container ended first.
  if (isStepped(kubelet.clock) && ended && !isBefore(graceEnd, ended))
    return { end: onwards(began, ended), outcome: 'unknown' };
  // In a second round the failure is that round's, and the first hook may have ended at any time before.
  if (again) return { end: untilTold(began, told), outcome: isBefore(told, graceEnd) ? 'failed' : 'unknown' };
  if (isBefore(graceEnd, told)) {
    const end = narrowed(moved(graceEnd, soon), notAfter(told));
    return { end: { ...end, evidence: cite(began.evidence, [failure.seq]) }, outcome: 'cut-off' };
  }
  if (!isBefore(told, graceEnd)) return { end: untilTold(began, told), outcome: 'unknown' };
  return ended === undefined || isBefore(told, ended)
    ? { end: told, outcome: 'failed' }
    : { end: told, outcome: 'unknown', mayHaveDied: true };
}

const toldAt = ({ kubelet }: Scene, began: Estimate, { time, at, seq }: Occurrence): Estimate =>
  crossed(
    narrowed(onNode(time, [seq], 'observed'), onClient({ lo: began.client.lo, hi: at + 1 }, [seq])),
    kubelet.clock,
  );

const untilTold = (began: Estimate, told: Estimate): Estimate => ({
  ...told,
  client: { lo: began.client.lo, hi: told.client.hi },
  node: { lo: began.node.lo, hi: told.node.hi },
  basis: 'inferred',
});

/** What begins a new round before the hook failed; what comes after it took nothing of it back. */
function isOfLaterRound(
  { events }: Trace,
  failure: Occurrence,
  began: Estimate,
  [, ...others]: readonly Occurrence[],
): boolean {
  const rounds = events.filter((one) => isNewRound(one) && !one.isOld && one.time.hi >= began.node.lo);
  return [...others, ...rounds].some(({ named, time }) => Math.min(named ?? Infinity, time.lo) <= failure.time.hi);
}

/** Success is silent. A container that ended well inside its grace leaves no room for a hook that overran it. */
function unknownEnd(inputs: Inputs, latest: Estimate, graceEnd: Estimate, trace: Trace): HookEnd {
  const { began, ended, doubted, killings, least } = inputs;
  const end = ended ? narrowed(latest, notAfter(ended)) : latest;
  const inTime = ended !== undefined && isBefore(ended, graceEnd);
  const isSilent = !doubted && killings.length > 0 && isSilence(trace, end);
  const slept = moved(began, { lo: least - driftOver(least), hi: Infinity });
  const isWhole = isSilent && killings.length === 1 && !isBefore(end, slept) && !isBefore(graceEnd, slept);
  return {
    end: isWhole ? narrowed(end, notBefore(slept)) : end,
    outcome: inTime && isSilent ? 'completed' : 'unknown',
  };
}

/** No failure was told, by a stream that would have brought it, and it has had the time to come. */
function isSilence(trace: Trace, end: Estimate): boolean {
  const isHeard = trace.gone !== undefined || trace.heard >= end.client.hi + eventPatience;
  return !isDeaf(trace) && !isWarningUntellable(trace) && isHeard;
}

/** What the kubelet posted may never have come. */
export const isDeaf = (trace: Trace): boolean =>
  trace.gaps.some((gap) => gap.value.stream === 'events') || trace.refused.some((one) => one.value.stream === 'events');

/** ms: an Event has come by then. */
export const eventPatience = millisecondsOf('event-lag') + millisecondsOf('delivery-lag');

const shiftHi = (span: Span, by: number): Span => ({ lo: span.lo, hi: Math.max(span.lo, span.hi + by) });

const noLaterThan = (a: Estimate, b: Estimate): Estimate => ({
  ...a,
  client: earlierOf(a.client, b.client),
  node: earlierOf(a.node, b.node),
});
