/** How observations change a trace. Pure, total. A fact keeps its first observation: repeated lists are harmless. */
import type { Observation, ObservationKind, ObservationOf } from './observation.ts';
import { foldChange, foldList } from './reduce/changes.ts';
import { foldDated, clockReached } from './reduce/clocks.ts';
import { closeGaps, foldBehind, foldGap, foldLate, foldResumed } from './reduce/gaps.ts';
import { factOf, addNote, withContainer } from './reduce/notes.ts';
import { foldPod, foldSuccessor, gone } from './reduce/pod.ts';
import { foldProbeCounts, foldProbeStarted } from './reduce/probes.ts';
import { parseTime } from './stamps.ts';
import type { LogFacts, RequestFacts, Trace } from './trace.ts';

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
