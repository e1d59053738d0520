/** How observations change a trace. Pure, total. A fact keeps its first observation: repeated lists are harmless. */
import type { Observation, ObservationKind, ObservationOf } from './observation.ts';
import { foldDated, clockReached, foldDelay } from './reduce/clocks.ts';
import { closeGaps, foldBehind, foldGap, foldLate, foldResumed, resumesAt } from './reduce/gaps.ts';
import { factOf, addNote, withContainer, withEntry } from './reduce/notes.ts';
import { foldPod, foldSuccessor, gone } from './reduce/pod.ts';
import { foldProbeCounts, foldProbeStarted } from './reduce/probes.ts';
import { parseTime } from './stamps.ts';
import type { LogFacts, RequestFacts, Trace, Seen } from './trace.ts';
import type { EndpointSlice, ObservedObject } from './kube.ts';
import { foldEvent } from './reduce/events.ts';
import { foldLease, foldMissingOwner, foldNamespace, foldNode, foldOwner, foldSlice } from './reduce/objects.ts';
import { foldSiblings } from './reduce/siblings.ts';

/** The trace after one more observation. Never mutates `trace`. */
export function reduce(trace: Trace, observation: Observation): Trace {
  const fold = folds[observation.kind] as Fold<ObservationKind>;
  const next = fold(trace, observation);
  const now = Math.max(next.now, observation.at);
  // Timers of the run itself are no news from the cluster; a recording that stopped early ends with one too.
  const isEnding = observation.kind === 'timer' && observation.name !== 'timeout';
  const lastReceivedAt = isEnding ? next.lastReceivedAt : now;
  return now === next.now && lastReceivedAt === next.lastReceivedAt ? next : { ...next, now, lastReceivedAt };
}

type Fold<K extends ObservationKind> = (trace: Trace, observation: ObservationOf<K>) => Trace;

const folds: { [K in ObservationKind]: Fold<K> } = {
  began: (trace, o) => ({ ...trace, began: trace.began ?? factOf(o, o) }),
  listed: (trace, o) => foldList(o.stream === 'services' ? closeGaps(trace, { stream: o.stream }, o.at) : trace, o),
  changed: (trace, o) => foldChange(foldBehind(foldLate(trace, o.stream, o.at), o), o),
  kin: (trace) => trace,
  synced: (trace, o) => closeGaps(trace, { stream: o.stream }, o.at),
  refused: (trace, o) =>
    addNote({ ...trace, refused: [...trace.refused, factOf(o, o)] }, o, `may not ${o.verb} ${o.resource}`),
  gap: foldGap,
  resumed: foldResumed,
  dated: foldDated,
  requested: foldRequest,
  answered: foldAnswer,
  looked: (trace, o) => {
    if (o.object === undefined) return trace.uid === undefined ? trace : gone(trace, 'absent', o, 'GET: no such pod');
    if (trace.uid !== undefined && o.object.metadata.uid !== trace.uid)
      return foldSuccessor(gone(trace, 'absent', o, 'GET: another uid has the name'), o.object, o);
    return foldPod(trace, o.object, o, { consistentSince: o.sentAt, isAnswer: true });
  },
  'log-opened': foldLogOpened,
  line: (trace, o) => foldLine(foldLate(trace, 'logs', o.at), o),
  'log-ended': (trace, o) => foldLogEnd(foldLate(trace, 'logs', o.at), o),
  timer: (trace, o) => {
    if (o.name === 'timeout') return addNote({ ...trace, timedOut: true }, o, '--timeout ran out');
    return o.name === 'settled' ? addNote(trace, o, 'nothing more is waited for') : trace;
  },
  'probe-started': foldProbeStarted,
  'probe-counts': foldProbeCounts,
  'probe-ended': (trace) => trace,
  interrupted: (trace, o) =>
    addNote({ ...trace, interrupted: trace.interrupted ?? factOf(o.signal, o) }, o, `interrupted by ${o.signal}`),
};

function foldRequest(trace: Trace, o: ObservationOf<'requested'>): Trace {
  const request: RequestFacts = { verb: o.verb, graceSeconds: o.graceSeconds, sent: factOf(true, o) };
  const grace = o.graceSeconds === null ? '' : `, grace ${o.graceSeconds} s`;
  const what = `${o.verb === 'evict' ? 'eviction' : 'DELETE'} sent with uid precondition${grace}`;
  return addNote({ ...trace, uid: trace.uid ?? o.uid, requests: [...trace.requests, request] }, o, what);
}

function foldAnswer(trace: Trace, o: ObservationOf<'answered'>): Trace {
  // The answer belongs to the last attempt; earlier ones were not answered, or the answer was lost.
  const open = trace.requests.findLastIndex((request) => request.verb === o.verb && request.answer === undefined);
  const isByBudget = /disruption budget/i.test(o.message ?? '');
  const answer = factOf({ status: o.status, pod: o.object, isByBudget }, o);
  const requests = trace.requests.map((request, index) => (index === open ? { ...request, answer } : request));
  // The drain that the run follows says only that it was refused.
  if (open < 0 && o.status === 429) requests.push({ verb: o.verb, graceSeconds: null, sent: factOf(true, o), answer });
  const what = `answer ${o.status} to the ${o.verb === 'evict' ? 'eviction' : 'DELETE'}`;
  const answered = addNote({ ...trace, requests }, o, what);
  return o.object === undefined || o.object.metadata.uid !== trace.uid
    ? answered
    : foldPod(answered, o.object, o, { isAnswer: true });
}

/** Lines from before the opening are not included (`tailLines=0`). */
function foldLogOpened(trace: Trace, o: ObservationOf<'log-opened'>): Trace {
  const closed = closeGaps(trace, { stream: 'logs', container: o.container }, o.at);
  return withLog(closed, o.container, ({ ended: _ended, ...log }) => ({
    ...log,
    opened: log.opened ?? factOf(true, o),
    reopened: log.opened ? factOf(true, o) : undefined,
  }));
}

function foldLine(trace: Trace, o: ObservationOf<'line'>): Trace {
  const stamp = parseTime(o.time);
  if (stamp === undefined) return trace;
  const known = trace.containers.get(o.container)?.log;
  const isNew = stamp > (known?.lastLine?.value.stamp ?? -Infinity);
  const isSignalLine = o.namesSignal && isNew && (known?.signalLines.length ?? 0) < 16;
  if (!isNew) return clockReached(trace, 'node', stamp, o);
  const next = withLog(trace, o.container, (log) => ({
    ...log,
    lastLine: factOf({ stamp, isBurst: (o.skipped ?? 0) >= 50 }, o),
    stopLine: o.namesStop ? factOf(stamp, o) : log.stopLine,
    signalLines: isSignalLine ? [...log.signalLines, { ...factOf(stamp, o), isOther: o.namesOther }] : log.signalLines,
  }));
  const what = isSignalLine ? `log line of ${o.container} that names a signal` : `log line of ${o.container}`;
  return addNote(clockReached(next, 'node', stamp, o), o, what);
}

function foldLogEnd(trace: Trace, o: ObservationOf<'log-ended'>): Trace {
  const next = withLog(trace, o.container, (log) => ({ ...log, ended: log.ended ?? factOf({ clean: o.clean }, o) }));
  return addNote(next, o, `log of ${o.container} ended${o.clean ? '' : ' (connection broke)'}`);
}

const withLog = (trace: Trace, name: string, change: (log: LogFacts) => LogFacts): Trace =>
  withContainer(trace, name, (facts) => ({ ...facts, log: change(facts.log) }));

/** Adds one watch event. */
function foldChange(before: Trace, o: ObservationOf<'changed'>): Trace {
  const came = resumesAt(before, o.stream, o.at).length > 0 ? 'resumed' : o.change === 'ADDED' ? 'added' : 'changed';
  const trace = foldDelay(before, o.stream, o.object, o, came);
  const deleted = o.change === 'DELETED';
  if (o.stream === 'pod' && o.object.kind === 'Pod' && deleted && o.object.metadata.uid === trace.uid)
    return gone(foldPod(trace, o.object, o), 'deleted', o, 'DELETED');
  if (o.stream === 'siblings' && o.object.kind === 'Pod')
    return deleted ? trace : foldSiblings(trace, [o.object], o, o.change === 'ADDED' ? 'created' : 'existed');
  return foldObject(trace, o.object, o, deleted ? 'deleted' : 'changed');
}

/** Adds one object, by its kind. The caller handles what depends on the stream. */
function foldObject(trace: Trace, object: ObservedObject, seen: Seen, how: 'listed' | 'changed' | 'deleted'): Trace {
  const deleted = how === 'deleted';
  switch (object.kind) {
    case 'Pod':
      return deleted && object.metadata.uid !== trace.uid ? trace : foldPod(trace, object, seen);
    case 'Service':
      return deleted ? trace : { ...trace, services: withEntry(trace.services, object.metadata.name, object) };
    case 'EndpointSlice':
      return foldSlice(trace, object, seen, deleted);
    case 'Event':
      return deleted ? trace : foldEvent(trace, object, seen, how === 'listed');
    case 'Node':
      return foldNode(trace, object, seen);
    case 'Lease':
      return deleted ? trace : foldLease(trace, object, seen, how === 'changed');
    case 'Namespace':
      return foldNamespace(trace, object, seen);
    default:
      return foldOwner(trace, object, seen, deleted);
  }
}

/** Adds a list: objects that are not in it do not exist. */
function foldList(before: Trace, o: ObservationOf<'listed'>): Trace {
  const trace = o.objects.reduce((next, object) => foldDelay(next, o.stream, object, o, 'listed'), before);
  if (o.stream === 'pod') return foldPodList(trace, o);
  if (o.stream === 'siblings') return foldSiblingList(trace, o);
  if (o.stream === 'owner' && o.objects.length === 0) return foldMissingOwner(trace, o.name, o);
  const known = o.stream === 'services' ? { ...trace, servicesKnown: true } : trace;
  const next = o.objects.reduce((folded, object) => foldObject(folded, object, o, 'listed'), known);
  if (o.stream !== 'endpointslices') return next;
  return { ...foldVanishedSlices(next, o), slicesSince: next.slicesSince ?? o.at };
}

function foldPodList(trace: Trace, o: ObservationOf<'listed'>): Trace {
  const pods = o.objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));
  const own = pods.find((pod) => trace.uid === undefined || pod.metadata.uid === trace.uid);
  const successor = pods.find((pod) => pod !== own);
  if (own) return foldPod(trace, own, o, { consistentSince: o.sentAt });
  if (successor) return foldPod(trace, successor, o);
  if (trace.uid === undefined) return trace;
  return gone(trace, wasForced(trace) ? 'deleted' : 'absent', o, 'a new list does not have the pod');
}

/** The answer to a DELETE with grace 0 is the removed object, unless finalizers keep it (§1 "Finalizers"). */
const wasForced = (trace: Trace): boolean =>
  trace.requests.some(({ answer }) => {
    const { deletionGracePeriodSeconds: grace, finalizers = [] } = answer?.value.pod?.metadata ?? {};
    return grace === 0 && finalizers.length === 0;
  });

/** Pods in the first list existed before, unless this list is late; pods added by a later list were created since. */
function foldSiblingList(trace: Trace, o: ObservationOf<'listed'>): Trace {
  // A run that attaches may not have seen a deletion that is already under way.
  const isLate = trace.requests.length > 0 || trace.deletion !== undefined || trace.began?.value.mode === 'attach';
  const arrival = trace.siblingsKnown ? 'created' : isLate ? 'listed-late' : 'existed';
  const pods = o.objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));
  return { ...foldSiblings(trace, pods, o, arrival), siblingsKnown: true };
}

/** Slices that a new list no longer has were deleted, and the pod's endpoint with them. */
function foldVanishedSlices(trace: Trace, o: ObservationOf<'listed'>): Trace {
  const listed = new Set(o.objects.map((object) => object.metadata.name));
  return [...trace.slices].reduce((next, [name, facts]) => {
    if (listed.has(name)) return next;
    const slice: EndpointSlice = { kind: 'EndpointSlice', ...facts.slice, endpoints: [] };
    return foldSlice(next, slice, o, true);
  }, trace);
}
