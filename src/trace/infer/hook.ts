/** The preStop hook: the API tells its failure, never its success (SIGNALS.md §2 S6, §5). */
import type { AssumptionName } from '../assumptions.ts';
import { driftOver, millisecondsOf } from '../assumptions.ts';
import { isStepped } from '../clock.ts';
import type { HookKind } from '../kube.ts';
import type { ContainerSpec } from '../pod.ts';
import { hookOf } from '../pod.ts';
import type { PreStopReport } from '../report.ts';
import type { Span } from '../span.ts';
import type { Occurrence, Trace } from '../trace.ts';
import { isOpen, sinceOf } from './began.ts';
import type { Estimate } from './estimate.ts';
import { cite, crossed, isBefore, moved, narrowed, notAfter, notBefore, onClient, onNode } from './estimate.ts';
import { belongs } from './kubelet.ts';
import { isNewRound, outlived } from './rounds.ts';
import type { Scene } from './scene.ts';
import { isUntellable, isWarningUntellable } from './tellable.ts';

const second = 1000;

export interface HookFacts {
  readonly kind: HookKind;
  readonly start: Estimate;
  readonly end: Estimate;
  readonly outcome: PreStopReport['outcome'];
  /** The kubelet perhaps never touched the container: then the hook did not run at all. */
  readonly doubted?: true;
  /** It failed, and its container may have ended before it did: then no signal came. */
  readonly mayHaveDied?: true;
  /** That it failed may yet be told: the status overtook the Event. */
  readonly mayFail?: true;
  /** It cannot have signalled the application itself. */
  readonly inert: boolean;
  /** FailedPreStopHook, where it was told. */
  readonly failure?: Occurrence;
  /** Length of a sleep action, s. */
  readonly sleepSeconds?: number;
}

interface Inputs {
  began: Estimate;
  killings: readonly Occurrence[];
  ended: Estimate | undefined;
  lag: AssumptionName;
}

export function hookFacts(scene: Scene, spec: ContainerSpec, inputs: Inputs): HookFacts | undefined {
  const hook = hookOf(spec.container);
  if (!hook) return undefined;
  const { began } = inputs;
  const { kubelet } = scene;
  const { failure, doubted } = failureOf(scene, spec, inputs);
  const seconds = hook.handler.sleep?.seconds;
  const known = {
    kind: hook.kind,
    start: began,
    ...(failure ? { failure } : {}),
    ...(seconds === undefined ? {} : { sleepSeconds: seconds }),
  };
  const inert = hook.kind === 'sleep' || hook.kind === 'tcpSocket' || hook.handler.exec?.inert === true;
  const least = (hook.handler.exec?.seconds ?? 0) * second;
  const [end, outcome, death] = endOf(scene, { ...inputs, kind: hook.kind, seconds, least, failure, doubted });
  const isComing = !failure && hook.kind !== 'sleep' && mayBeComing(scene.trace, inputs.ended);
  // Others of the pod had their Killing, and it had none: perhaps it was not there any more, and its hook never ran (trap 7).
  const isUntouched =
    inputs.killings.length === 0 &&
    !failure &&
    ((kubelet.killings.size > 0 && !isUntellable(scene.trace)) || mayBeComing(scene.trace, inputs.ended));
  const open = isComing ? { mayFail: true as const } : {};
  return {
    ...known,
    ...death,
    ...open,
    inert,
    end: crossed(end, kubelet.clock),
    outcome: isUntouched ? 'unknown' : outcome,
  };
}

/** An Event of it may be on its way: the status that tells its end overtook it. */
function mayBeComing(trace: Trace, ended: Estimate | undefined): boolean {
  const isOver = trace.gone !== undefined || isDeaf(trace);
  return !isOver && trace.heard < (ended?.client.hi ?? Infinity) + eventPatience;
}

interface Length {
  /** Of a sleep action, s. */
  readonly seconds: number | undefined;
  /** What a command that only sleeps takes, ms; 0 for any other. */
  readonly least: number;
}

type HookEnd = [end: Estimate, outcome: PreStopReport['outcome'], death?: Pick<HookFacts, 'mayHaveDied'>];

const death = { mayHaveDied: true } as const;

function endOf(scene: Scene, inputs: Inputs & Length & Failure & { kind: HookKind }): HookEnd {
  const { began, kind, seconds, failure, lag } = inputs;
  const { kubelet } = scene;
  const whole = stretch(kubelet.grace.min * second, kubelet.grace.max * second);
  const graceEnd = lastRound(scene, inputs, moved(began, whole), whole);
  const soon = { lo: 0, hi: millisecondsOf(lag) };
  // tcpSocket is no valid handler: it fails at once (trap 11).
  if (kind === 'tcpSocket') return [moved(began, soon), 'failed'];
  const late = inputs.ended !== undefined && outlived(kubelet, began, inputs.ended, lag);
  if (late && inputs.ended && !failure) return [onwards(began, inputs.ended), 'unknown'];
  if (kind === 'sleep' && seconds !== undefined) return sleepEnd(inputs, graceEnd, seconds, soon);
  if (failure) return failedEnd(scene, inputs, failure, graceEnd, late ? { lo: 0, hi: Infinity } : soon);
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
function sleepEnd({ began }: Inputs, graceEnd: Estimate, seconds: number, soon: Span): HookEnd {
  const length = seconds * second;
  const own = moved(began, { lo: length - driftOver(length), hi: length + driftOver(length) + soon.hi });
  if (isBefore(graceEnd, { ...own, client: shiftHi(own.client, -soon.hi), node: shiftHi(own.node, -soon.hi) }))
    return [moved(graceEnd, soon), 'cut-off'];
  const end = earlier(own, moved(graceEnd, soon));
  return [end, isBefore(own, graceEnd) ? 'completed' : 'unknown'];
}

/** Before the grace ended the hook failed by itself; after it, it was cut off and died with the container (trap 11). */
function failedEnd(
  { kubelet, trace }: Scene,
  { began, killings, ended }: Inputs,
  failure: Occurrence,
  graceEnd: Estimate,
  soon: Span,
): HookEnd {
  const told = crossed(
    narrowed(
      onNode(failure.time, [failure.seq], 'observed'),
      onClient({ lo: began.client.lo, hi: failure.at + 1 }, [failure.seq]),
    ),
    kubelet.clock,
  );
  const again = isOfLaterRound(trace, failure, began, killings);
  // What fails after the container has ended died with it: a connection that broke, an exec that lost its process. The
  // kubelet's call has returned by then, at the failure or with the grace (SIGNALS.md §2 S6).
  const outlivedIt = ended !== undefined && isBefore(ended, told);
  if (outlivedIt && (isBefore(ended, graceEnd) || !isBefore(graceEnd, told)))
    return [again ? onwards(began, ended) : earlier(told, moved(graceEnd, soon)), 'unknown', death];
  // Where its clock was set nothing may tell whether the container ended first.
  if (isStepped(kubelet.clock) && ended && !isBefore(graceEnd, ended)) return [onwards(began, ended), 'unknown'];
  if (!again && isBefore(graceEnd, told))
    return [
      { ...narrowed(moved(graceEnd, soon), notAfter(told)), evidence: cite(began.evidence, [failure.seq]) },
      'cut-off',
    ];
  // In a second round the failure is that round's, and the first hook may have ended at any time before.
  if (!again && isBefore(told, graceEnd))
    return ended === undefined || isBefore(told, ended) ? [told, 'failed'] : [told, 'unknown', death];
  return [
    {
      ...told,
      client: { lo: began.client.lo, hi: told.client.hi },
      node: { lo: began.node.lo, hi: told.node.hi },
      basis: 'inferred',
    },
    again ? 'failed' : 'unknown',
  ];
}

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
function unknownEnd(inputs: Inputs & Length & Failure, latest: Estimate, graceEnd: Estimate, trace: Trace): HookEnd {
  const { began, ended, doubted, killings, least } = inputs;
  const end = ended ? narrowed(latest, notAfter(ended)) : latest;
  const inTime = ended !== undefined && isBefore(ended, graceEnd);
  const isSilent = !doubted && killings.length > 0 && isSilence(trace, end);
  const slept = moved(began, { lo: least - driftOver(least), hi: Infinity });
  const isWhole = isSilent && killings.length === 1 && !isBefore(end, slept) && !isBefore(graceEnd, slept);
  return [isWhole ? narrowed(end, notBefore(slept)) : end, inTime && isSilent ? 'completed' : 'unknown'];
}

/** No failure was told, by a stream that would have brought it, and it has had the time to come. */
function isSilence(trace: Trace, end: Estimate): boolean {
  const isHeard = trace.gone !== undefined || trace.heard >= end.client.hi + eventPatience;
  return !isDeaf(trace) && !isWarningUntellable(trace) && isHeard;
}

/** What the kubelet posted may never have come. */
const isDeaf = (trace: Trace): boolean =>
  trace.gaps.some((gap) => gap.value.stream === 'events') || trace.refused.some((one) => one.value.stream === 'events');

/** ms: an Event has come by then. */
const eventPatience = millisecondsOf('event-lag') + millisecondsOf('delivery-lag');

interface Failure {
  readonly failure: Occurrence | undefined;
  /** One was told that may be of an older story, of a liveness probe's for instance. */
  readonly doubted: boolean;
}

/**
 * A failure that is older than the deletion is not this exit's. Where only the acceptance bounds it, and the clocks do not
 * tell, it counts if it was told live after the deletion, and no kill for another reason can have run that hook.
 */
function failureOf(scene: Scene, spec: ContainerSpec, { began, killings }: Inputs): Failure {
  const { trace, deletion, kubelet } = scene;
  const all = about(trace, spec, 'FailedPreStopHook');
  if (!isOpen(began)) return { failure: all.find(({ time }) => time.hi >= began.node.lo), doubted: false };
  const since = sinceOf(scene, began, killings);
  const isAlone = about(trace, spec, 'Killing').every((one) => killings.includes(one));
  const possible = all.filter((one) => belongs(trace, deletion, kubelet.clock, one));
  const failure = possible.find(
    ({ time, isOld, count, seq }) =>
      time.lo >= since || (isAlone && !isOld && count === 1 && seq > deletion.facts.seenSeq),
  );
  return { failure, doubted: !failure && possible.length > 0 };
}

const about = (trace: Trace, spec: ContainerSpec, reason: string): Occurrence[] =>
  trace.events.filter((one) => one.reason === reason && one.about.container === spec.name);

const stretch = (min: number, max: number): Span => ({ lo: min - driftOver(min), hi: max + driftOver(max) });
const shiftHi = (span: Span, by: number): Span => ({ lo: span.lo, hi: Math.max(span.lo, span.hi + by) });

const earlier = (a: Estimate, b: Estimate): Estimate => ({
  ...a,
  client: { lo: Math.min(a.client.lo, b.client.lo), hi: Math.min(a.client.hi, b.client.hi) },
  node: { lo: Math.min(a.node.lo, b.node.lo), hi: Math.min(a.node.hi, b.node.hi) },
});
