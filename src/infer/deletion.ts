/** When the deletion was requested and accepted, by whom, and with which grace period. */
import { noLessThan, noMoreThan, toClient, withDates, type RemoteClock } from '../model/clock.ts';
import type { Pod } from '../model/kube.ts';
import { conditionOf, graceOf, isFinished, isOlder } from '../model/pod.ts';
import { meet, second, type Span } from '../model/span.ts';
import { parseTime, requestedAt } from '../model/stamps.ts';
import { type DeletionFacts, type Occurrence, type RequestFacts, type Trace } from '../model/trace.ts';
import { deliverableSince } from './arrival.ts';
import { onClient, type Estimate } from './estimate.ts';

export type Deletion = Readonly<NonNullable<ReturnType<typeof deletionOf>>>;

export function deletionOf(trace: Trace) {
  const facts = trace.deletion;
  if (!facts) return undefined;
  const request = lastRequest(trace, facts);
  const ours = request && !wasDeletedByOther(trace, facts, request) ? request : undefined;
  const seen = { lo: ours ? sentSince(trace, ours) : trace.notDeletingAt, hi: arrival(facts, ours) };
  const causal = ours ? withDeletion(trace.clocks.api, facts, seen) : trace.clocks.api;
  const api = withDates(causal, trace.clocks.dates);
  const asked = requestTime(trace, facts);
  const client = asked ? meet(seen, toClient(api, asked, seen.hi)) : seen;
  const evidence = [...(ours ? [ours.sent.seq] : []), facts.seenSeq];
  return {
    facts,
    /** The first state that was seen with a deletionTimestamp. */
    pod: facts.first.value,
    /** We saw the very write that set deletionTimestamp, by watch or in the answer to us, not a later state (trap 2). */
    isWitnessed: isWitnessed(trace, facts),
    /** Our request, if it caused the deletion. */
    ours,
    requested: ours && sentAt(ours),
    /** Our request, if it was executed after another client had deleted the pod. */
    deletedByOther: request?.answer && !ours ? request : undefined,
    accepted: onClient(client, evidence, 'observed'),
    /** Grace of the first deletionTimestamp, seconds. */
    grace: graceOf(facts.first.value),
    api,
  };
}

export const sentAt = ({ sent }: RequestFacts): Estimate =>
  onClient({ lo: sent.at, hi: sent.at + 1 }, [sent.seq], 'observed');

/** The client time by which the deletion was seen. An answer with an unchanged pod, by a webhook, does not show it. */
function arrival(facts: DeletionFacts, ours: RequestFacts | undefined): number {
  const { value, at } = ours?.answer ?? {};
  const showsDeletion =
    value && value.status < 300 && (!value.pod || value.pod.metadata.deletionTimestamp !== undefined);
  return Math.min(facts.seenAt, showsDeletion && at !== undefined ? at : Infinity) + 1;
}

/** A failed try may still have been executed, but not before the last state without deletionTimestamp. */
function sentSince(trace: Trace, ours: RequestFacts): number {
  const first = firstTry(trace);
  return first && first !== ours ? Math.max(first.sent.at, trace.notDeletingAt) : ours.sent.at;
}

/** Flow control rejects a request with 429 without executing it. */
const firstTry = (trace: Trace): RequestFacts | undefined =>
  trace.requests.find((request) => request.answer?.value.status !== 429);

/** The last request that was sent before a deletionTimestamp was seen, unless it failed. */
function lastRequest(trace: Trace, facts: DeletionFacts): RequestFacts | undefined {
  const request = trace.requests.filter(({ sent }) => sent.seq < facts.seenSeq).at(-1);
  if (!request || facts.underWay) return undefined;
  return request.answer && request.answer.value.status >= 300 ? undefined : request;
}

/**
 * A DELETE of a terminating pod is answered with 200 and the unchanged pod (SIGNALS.md §1 "Repeat delete"): only other
 * evidence shows that the deletion is older than our request, or has another cause.
 */
function wasDeletedByOther(trace: Trace, facts: DeletionFacts, request: RequestFacts): boolean {
  if (isWitnessed(trace, facts) && hasOtherGrace(facts.first.value, request)) return true;
  const isRetry = firstTry(trace) !== request;
  return (!isRetry && isWrittenBefore(facts, request)) || hasOtherCause(trace, facts.first.value, request);
}

/** Whether deletionTimestamp was written before our request: the answer has the resourceVersion of our own write. */
function isWrittenBefore(facts: DeletionFacts, { answer }: RequestFacts): boolean {
  const { resourceVersion, deletionGracePeriodSeconds } = answer?.value.pod?.metadata ?? {};
  // A DELETE with grace 0 is answered with the removed object, which is one write later.
  return deletionGracePeriodSeconds !== 0 && isOlder(facts.first.value.metadata.resourceVersion, resourceVersion);
}

/** The first DELETE sets the grace of its request or, if there is none, that of the pod's spec (SIGNALS.md §1 "Grace"). */
function hasOtherGrace(first: Pod, { graceSeconds }: RequestFacts): boolean {
  const { deletionGracePeriodSeconds: grace } = first.metadata;
  const wanted = graceSeconds ?? first.spec.terminationGracePeriodSeconds;
  if (wanted === undefined || grace === undefined) return false;
  const isAtOnce = first.spec.nodeName === undefined || isFinished(first);
  return grace !== (wanted < 0 ? 1 : wanted) && !(isAtOnce && grace === 0);
}

/**
 * Whether the DisruptionTarget condition shows another client's deletion. For our DELETE: the condition is new since it
 * was sent. An eviction adds the condition first, even to a terminating pod (SIGNALS.md §1 "Eviction", trap 26). So for
 * our eviction: it is later than deletionTimestamp. Servers up to 1.25 add no condition.
 */
function hasOtherCause(trace: Trace, first: Pod, { verb, sent }: RequestFacts): boolean {
  const reason = causeIn(first);
  const isNew = trace.disruption?.value === reason && (trace.disruption?.seq ?? -Infinity) > sent.seq;
  // The kubelet's own condition causes no deletion (SIGNALS.md §4).
  if (verb === 'delete') return reason !== undefined && reason !== 'TerminationByKubelet' && isNew;
  if (reason !== byEviction) return trace.pod !== undefined && causeIn(trace.pod.value) === byEviction;
  const since = parseTime(conditionOf(first, 'DisruptionTarget')?.lastTransitionTime) ?? -Infinity;
  return since > (requestedAt(first) ?? Infinity);
}

const byEviction = 'EvictionByEvictionAPI';

function causeIn(pod: Pod): string | undefined {
  const condition = conditionOf(pod, 'DisruptionTarget');
  return condition?.status === 'True' ? condition.reason : undefined;
}

/** The second of the request, API server's clock. Undefined if deletionTimestamp may have been rewritten. */
export function requestTime(trace: Trace, facts: DeletionFacts): Span | undefined {
  const first = facts.first.value;
  const asked = requestedAt(first);
  if (asked === undefined || (!isWitnessed(trace, facts) && graceOf(first) <= 1)) return undefined;
  return { lo: asked, hi: asked + second };
}

const isWitnessed = (trace: Trace, { first, underWay }: DeletionFacts): boolean =>
  !underWay && deliverableSince(trace, 'pod', first.at) === first.at;

/** A finished pod's grace is 0 and stays 0 (SIGNALS.md §1 "Grace"), so one with another grace finished later. */
export const ranAtDeletion = ({ pod, grace }: Deletion): boolean => !isFinished(pod) || grace > 0;

/** Bounds on the API server's clock: it executed our DELETE between our sending it and its first sign. */
function withDeletion(api: RemoteClock, facts: DeletionFacts, seen: Span): RemoteClock {
  const asked = requestedAt(facts.first.value);
  if (asked === undefined || !Number.isFinite(seen.lo)) return api;
  const lower = noLessThan(api, { at: seen.hi, value: asked - seen.hi, seq: facts.seenSeq });
  return noMoreThan(lower, { at: seen.lo, value: asked + second - seen.lo, seq: facts.seenSeq });
}

/** Whether a request was or may have been executed: after a 5xx answer we do not know. */
export const mayHaveCounted = (request: RequestFacts): boolean =>
  !request.answer || isExecuted(request) || request.answer.value.status >= 500;

export const isExecuted = ({ answer }: RequestFacts): boolean => answer !== undefined && answer.value.status < 300;

/** Whether an Event can belong to this deletion: not certainly earlier, and not received before our request. */
export const belongs = ({ ours, accepted }: Deletion, { seq, at }: Occurrence, client: Span): boolean =>
  !(ours && seq < ours.sent.seq) && Math.min(client.hi, at + 1) >= accepted.client.lo;

export type Grace = Trace['graces'][number];

/** The lower graces that a client set later. The kubelet's own last DELETE does not count. */
export const loweredGraces = (trace: Trace, deletion: Deletion): Grace[] =>
  trace.graces.filter(
    ({ value, seq }) => value.grace < deletion.grace && !(trace.terminal && trace.finalDelete?.seq === seq),
  );

/** Whether the grace was lowered after the kubelet acknowledged the deletion, but perhaps before it started the stop. */
export const wasLoweredLate = (trace: Trace, deletion: Deletion): boolean =>
  loweredGraces(trace, deletion).some(({ seq }) => seq > (trace.acknowledged?.seq ?? Infinity));
