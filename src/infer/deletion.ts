/** When the deletion was asked for and accepted, by whom, and with which grace. */
import { millisecondsOf, type AssumptionName } from '../model/assumptions.ts';
import { noLessThan, noMoreThan, toClient, upTo, withDates, type Clock } from '../model/clock.ts';
import type { Pod } from '../model/kube.ts';
import type { Gap } from '../model/observation.ts';
import { conditionOf, isFinished, isOlder } from '../model/pod.ts';
import { meet, second, type Span } from '../model/span.ts';
import { parseTime } from '../model/stamps.ts';
import type { DeletionFacts, Fact, Occurrence, RequestFacts, Trace } from '../model/trace.ts';
import { deliverableSince } from './arrival.ts';
import { onClient, type Estimate } from './estimate.ts';

export interface Deletion {
  readonly facts: DeletionFacts;
  /** The request of ours that began it. */
  readonly ours?: RequestFacts;
  /** A request of ours that was executed, and found the pod deleted by somebody else. */
  readonly deletedByOther?: RequestFacts;
  readonly accepted: Estimate;
  /** Grace of the first deletionTimestamp, seconds. */
  readonly grace: number;
  readonly api: Clock;
  /** Assumptions that it leans on. */
  readonly assumes: readonly AssumptionName[];
}

export function deletionOf(trace: Trace): Deletion | undefined {
  const facts = trace.deletion;
  if (!facts) return undefined;
  const request = lastRequest(trace, facts);
  const isByOther = request !== undefined && wasDeletedByOther(trace, facts, request);
  const isOutdated = request !== undefined && !isByOther && isAskedBefore(trace, facts, request);
  const ours = isByOther || isOutdated ? undefined : request;
  const seen = { lo: ours ? sentSince(trace, ours) : trace.notDeletingAt, hi: arrival(facts, ours) };
  const causal = ours ? withDeletion(trace.clocks.api, facts, seen) : trace.clocks.api;
  const dated = withDates(causal, trace.clocks.dates);
  // The stamps that speak of another's deletion may be of a clock that was set back just now.
  const api = isOutdated ? { ...dated, doubt: { at: facts.seenAt, seq: facts.seenSeq } } : dated;
  const asked = requestTime(trace, facts);
  const client = asked ? meet(seen, toClient(api, asked, seen.hi)) : seen;
  const evidence = [...(ours ? [ours.sent.seq] : []), facts.seenSeq];
  return {
    facts,
    ours,
    deletedByOther: request?.answer && !ours ? request : undefined,
    accepted: onClient(client, evidence, 'observed'),
    grace: firstGrace(facts),
    api,
    assumes: isOutdated ? ['server-skew'] : [],
  };
}

const firstGrace = (facts: DeletionFacts): number => graceOf(facts.first.value);

const graceOf = ({ metadata, spec }: Pod): number =>
  metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 0;

/** An answer with the unchanged pod is a webhook's, or says that the deed is still to come. */
function arrival(facts: DeletionFacts, ours: RequestFacts | undefined): number {
  const { value, at } = ours?.answer ?? {};
  const showsDeletion =
    value && value.status < 300 && (!value.pod || value.pod.metadata.deletionTimestamp !== undefined);
  return Math.min(facts.seenAt, showsDeletion && at !== undefined ? at : Infinity) + 1;
}

/** Flow control turns a request away before it is executed. */
const tooManyRequests = 429;

/** A try that failed may yet have been executed, but not before the last look that showed no deletionTimestamp. */
function sentSince(trace: Trace, ours: RequestFacts): number {
  const first = firstTry(trace);
  return first && first !== ours ? Math.max(first.sent.at, trace.notDeletingAt) : ours.sent.at;
}

/** The first one that may have been executed. */
const firstTry = (trace: Trace): RequestFacts | undefined =>
  trace.requests.find((one) => one.answer?.value.status !== tooManyRequests);

/** The last request that was sent before any deletionTimestamp was seen, and not refused. */
function lastRequest(trace: Trace, facts: DeletionFacts): RequestFacts | undefined {
  const request = trace.requests.filter((one) => one.sent.seq < facts.seenSeq).at(-1);
  if (!request || facts.underWay) return undefined;
  return request.answer && request.answer.value.status >= 300 ? undefined : request;
}

/**
 * A DELETE of a pod that is terminating is answered with 200 and the pod as it is (SIGNALS.md §1 "Repeat delete",
 * "Response body"); so something must show that the deletion is older than the request, or another one's. What is older
 * than the last of several tries may be the work of one before it.
 */
function wasDeletedByOther(trace: Trace, facts: DeletionFacts, request: RequestFacts): boolean {
  if (isWitnessed(trace, facts) && hasOtherGrace(facts.first.value, request)) return true;
  const isRetry = firstTry(trace) !== request;
  if (isRetry && !hadCause(trace, facts)) return false;
  return (!isRetry && isWrittenBefore(facts, request)) || hasOtherCause(trace, facts.first.value, request);
}

/** Somebody else's condition was there before any deletionTimestamp: no try of ours had been executed by then. */
const hadCause = ({ before }: Trace, { first }: DeletionFacts): boolean =>
  before !== undefined && causeIn(before.value) !== undefined && causeIn(before.value) === causeIn(first.value);

/** The answer's resourceVersion is the one that our write made. */
function isWrittenBefore(facts: DeletionFacts, { answer }: RequestFacts): boolean {
  const { resourceVersion, deletionGracePeriodSeconds } = answer?.value.pod?.metadata ?? {};
  // A delete with grace 0 answers with the object as it was removed, one write later.
  return deletionGracePeriodSeconds !== 0 && isOlder(facts.first.value.metadata.resourceVersion, resourceVersion);
}

/** The first DELETE sets the grace that it asks for, or else the pod's own (SIGNALS.md §1 "Grace"). */
function hasOtherGrace(first: Pod, { graceSeconds }: RequestFacts): boolean {
  const { deletionGracePeriodSeconds: grace } = first.metadata;
  const wanted = graceSeconds ?? first.spec.terminationGracePeriodSeconds;
  if (wanted === undefined || grace === undefined) return false;
  const isAtOnce = first.spec.nodeName === undefined || isFinished(first);
  return grace !== (wanted < 0 ? 1 : wanted) && !(isAtOnce && grace === 0);
}

/**
 * A DELETE that finds a condition which was not there when it was sent came after its author's. An eviction writes its own
 * before it deletes, and onto a pod that is terminating too (SIGNALS.md §1 "Eviction", trap 26): where that came later
 * than deletionTimestamp, somebody else had set it. A server that writes none (1.25 and older) shows nothing by that.
 */
function hasOtherCause(trace: Trace, first: Pod, { verb, sent }: RequestFacts): boolean {
  const reason = causeIn(first);
  const isNew = trace.disruption?.value === reason && (trace.disruption?.seq ?? -Infinity) > sent.seq;
  // The kubelet's own condition causes no deletion (SIGNALS.md §4).
  if (verb === 'delete') return reason !== undefined && reason !== 'TerminationByKubelet' && isNew;
  if (reason !== byEviction) return trace.pod !== undefined && causeIn(trace.pod.value) === byEviction;
  const since = parseTime(conditionOf(first, 'DisruptionTarget')?.lastTransitionTime) ?? -Infinity;
  return since > (parseTime(first.metadata.deletionTimestamp) ?? Infinity) - graceOf(first) * second;
}

const byEviction = 'EvictionByEvictionAPI';

function causeIn(pod: Pod): string | undefined {
  const condition = conditionOf(pod, 'DisruptionTarget');
  return condition?.status === 'True' ? condition.reason : undefined;
}

/**
 * It was asked for before we sent ours, by stamps of the API server that had arrived by then. Another API server may have
 * stamped the deletion: it must be earlier by more than their clocks are apart.
 */
function isAskedBefore(trace: Trace, facts: DeletionFacts, request: RequestFacts): boolean {
  const asked = requestTime(trace, facts);
  if (asked === undefined) return false;
  const { hi } = toClient(upTo(trace.clocks.api, facts.seenAt + 1), asked, facts.seenAt + 1);
  // Before the pod was last seen without it, it was not deleted: then the clock was set.
  return trace.notDeletingAt <= hi && hi + millisecondsOf('server-skew') < sentSince(trace, request);
}

/**
 * [D − grace, D − grace + 1 s) on the apiserver's clock (SIGNALS.md §1 "First delete"). Not of a state that was
 * rewritten since: grace 0 means the kubelet's last DELETE or a forced one, and a shortened grace of 1 moves D to now.
 */
export function requestTime(trace: Trace, facts: DeletionFacts): Span | undefined {
  const { deletionTimestamp } = facts.first.value.metadata;
  const deadline = parseTime(deletionTimestamp);
  const grace = firstGrace(facts);
  if (deadline === undefined || (!isWitnessed(trace, facts) && grace <= 1)) return undefined;
  return { lo: deadline - grace * second, hi: deadline - grace * second + second };
}

/**
 * The write that set deletionTimestamp was seen itself: no later state stands for it (trap 2). An answer to us waits for no
 * watch; only a list after a gap may hide what came before it.
 */
export function isWitnessed(trace: Trace, { first, isAnswer, underWay }: DeletionFacts): boolean {
  const isHidden = ({ value: { stream, from, to = Infinity } }: Fact<Gap>): boolean =>
    stream === 'pod' && from <= first.at && first.at <= to;
  const isTimely = deliverableSince(trace, 'pod', first.at) === first.at;
  return !underWay && (isTimely || (isAnswer && !trace.gaps.some(isHidden)));
}

/**
 * Something of the pod had not ended when the deletion was accepted. A finished pod's DELETE sets a grace of 0, and no other
 * grace follows a 0 (SIGNALS.md §1 "Grace", "Repeat delete"): a finished state with a grace has finished since.
 */
export const ranAtDeletion = ({ facts, grace }: Pick<Deletion, 'facts' | 'grace'>): boolean =>
  !isFinished(facts.first.value) || grace > 0;

/** Our own DELETE was executed between sending and the first sign of it. */
function withDeletion(api: Clock, facts: DeletionFacts, seen: Span): Clock {
  const deadline = parseTime(facts.first.value.metadata.deletionTimestamp);
  if (deadline === undefined || !Number.isFinite(seen.lo)) return api;
  const asked = deadline - firstGrace(facts) * second;
  const lower = noLessThan(api, { at: seen.hi, value: asked - seen.hi, seq: facts.seenSeq });
  return noMoreThan(lower, { at: seen.lo, value: asked + second - seen.lo, seq: facts.seenSeq });
}

/** It was executed, or that is unknown: a server in trouble may have done it all the same. */
export const mayHaveCounted = (request: RequestFacts): boolean =>
  !request.answer || isExecuted(request) || request.answer.value.status >= 500;

export const isExecuted = ({ answer }: RequestFacts): boolean => answer !== undefined && answer.value.status < 300;

/** A stamp that certainly lies before the deletion was accepted, or that arrived before we asked, is not of this deletion. */
export const belongs = ({ ours, accepted }: Deletion, { seq, at }: Occurrence, client: Span): boolean =>
  !(ours && seq < ours.sent.seq) && Math.min(client.hi, at + 1) >= accepted.client.lo;

export type Grace = Trace['graces'][number];

/** What somebody lowered it to; the kubelet's own last DELETE does not. */
export const loweredGraces = (trace: Trace, deletion: Deletion): Grace[] =>
  trace.graces.filter(({ value, seq }) => value.grace < deletion.grace && !isLastDelete(trace, seq));

/** Perhaps before the kubelet began, though it knew of the deletion by then. */
export const wasLoweredLate = (trace: Trace, deletion: Deletion): boolean =>
  loweredGraces(trace, deletion).some(({ seq }) => isAfterNotice(trace, seq));

/** A state of the pod, by its observation, that came after the first status which knows of the deletion. */
export const isAfterNotice = ({ acknowledged }: Trace, seq: number): boolean =>
  acknowledged !== undefined && acknowledged.seq < seq;

const isLastDelete = (trace: Trace, seq: number): boolean =>
  trace.finalDelete?.seq === seq && trace.terminal !== undefined;
