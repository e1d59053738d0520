/**
 * All that changes a trace. Laws:
 *
 * 1. Everything that changes a trace lives in this file and in reduce/; renderers and rules only read.
 * 2. No clock, no I/O, no throw: the same observations always give the same trace, whatever they contain.
 * 3. Level-driven: a repeated list or a replayed change proves nothing new and alters nothing; facts keep the first
 *    observation that brought them, so gaps and duplicates are harmless.
 * 4. It collects facts and cites observations; it concludes nothing. What follows from facts is timeline.ts.
 * 5. Memory grows with what concerns the pod, never with what merely passes by.
 */
import type { Observation, ObservationKind, ObservationOf } from './observation.ts';
import { foldDated } from './reduce/clocks.ts';
import { foldChange, foldList } from './reduce/changes.ts';
import { foldLine, foldLogEnd, foldLogOpened } from './reduce/logs.ts';
import { factOf, note } from './reduce/notes.ts';
import { foldProbeCounts, foldProbeEnded, foldProbeStarted } from './reduce/probes.ts';
import { foldPod, foldSuccessor, gone } from './reduce/pod.ts';
import { foldAnswer, foldRequest } from './reduce/requests.ts';
import { closeLate, foldBehind, foldGap, foldLate, foldResumed } from './reduce/gaps.ts';
import type { Trace } from './trace.ts';

/** The trace after one more observation. Never mutates `trace`. */
export function reduce(trace: Trace, observation: Observation): Trace {
  const fold = folds[observation.kind] as Fold<ObservationKind>;
  const next = fold(trace, observation);
  const now = Math.max(next.now, observation.at);
  const lastReceivedAt = isSettled(observation) ? next.lastReceivedAt : now;
  return now === next.now && lastReceivedAt === next.lastReceivedAt ? next : { ...next, now, lastReceivedAt };
}

/** The session's own decision: also the end of a recording that stopped earlier than a run would have. */
const isSettled = (observation: Observation): boolean => observation.kind === 'timer' && observation.name !== 'timeout';

type Fold<K extends ObservationKind> = (trace: Trace, observation: ObservationOf<K>) => Trace;

const folds: { [K in ObservationKind]: Fold<K> } = {
  began: (trace, o) => ({ ...trace, began: trace.began ?? { value: o, seq: o.seq, at: o.at } }),
  listed: (trace, o) => foldList(o.stream === 'services' ? closeLate(trace, { stream: o.stream }, o.at) : trace, o),
  changed: (trace, o) => foldChange(foldBehind(foldLate(trace, o.stream, o.at), o), o),
  kin: (trace, o) =>
    trace.kin
      ? trace
      : note(
          { ...trace, kin: factOf({ ...o, uids: new Set(o.uids) }, o) },
          o,
          `pods of its controller: ${o.uids.length}`,
        ),
  synced: (trace, o) => closeLate(trace, { stream: o.stream }, o.at),
  refused: (trace, o) =>
    note(
      { ...trace, refused: [...trace.refused, { value: o, seq: o.seq, at: o.at }] },
      o,
      `may not ${o.verb} ${o.resource}`,
    ),
  gap: foldGap,
  resumed: foldResumed,
  dated: foldDated,
  requested: foldRequest,
  answered: foldAnswer,
  looked: (trace, o) => {
    if (o.object === undefined)
      return trace.uid === undefined ? trace : gone(trace, 'not-found', o, 'GET: no such pod');
    if (trace.uid !== undefined && o.object.metadata.uid !== trace.uid)
      return foldSuccessor(gone(trace, 'replaced', o, 'GET: another uid has the name'), o.object, o);
    return foldPod(trace, o.object, o, { consistentSince: o.sentAt, isAnswer: true });
  },
  'log-opened': foldLogOpened,
  line: (trace, o) => foldLine(foldLate(trace, 'logs', o.at), o),
  'log-ended': (trace, o) => foldLogEnd(foldLate(trace, 'logs', o.at), o),
  timer: (trace, o) => {
    if (o.name === 'over') return trace;
    return note(
      { ...trace, timers: [...trace.timers, { value: o.name, seq: o.seq, at: o.at }] },
      o,
      o.name === 'timeout' ? '--timeout ran out' : 'nothing more is waited for',
    );
  },
  'probe-started': foldProbeStarted,
  'probe-counts': foldProbeCounts,
  'probe-ended': foldProbeEnded,
  interrupted: (trace, o) =>
    note(
      { ...trace, interrupted: trace.interrupted ?? { value: o.signal, seq: o.seq, at: o.at } },
      o,
      `interrupted by ${o.signal}`,
    ),
};
