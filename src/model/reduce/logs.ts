import type { ObservationOf } from '../observation.ts';
import { parseTime } from '../stamps.ts';
import type { LogFacts, Trace } from '../trace.ts';
import { nodeReached } from './clocks.ts';
import { closeLate } from './gaps.ts';
import { factOf, note, withContainer } from './notes.ts';

/** A container that logs its signal in a loop proves no more than one that does it once. */
const mostSignalLines = 16;

/** What the log held before is no part of it (`tailLines=0`). */
export const foldLogOpened = (trace: Trace, o: ObservationOf<'log-opened'>): Trace =>
  withLog(
    closeLate(trace, { stream: 'logs', container: o.container }, o.at),
    o.container,
    ({ ended: _ended, ...log }) => ({
      ...log,
      opened: log.opened ?? factOf(true, o),
      ...(log.opened ? { reopened: factOf(true, o) } : {}),
    }),
  );

export function foldLine(trace: Trace, o: ObservationOf<'line'>): Trace {
  const stamp = parseTime(o.time);
  if (stamp === undefined) return trace;
  const known = trace.containers.get(o.container)?.log;
  const isNew = stamp > (known?.lastLine?.value ?? -Infinity);
  const tellsSignal = o.namesSignal && isNew && (known?.signalLines.length ?? 0) < mostSignalLines;
  if (!isNew) return nodeReached(trace, stamp, o);
  const next = withLog(trace, o.container, (log) => ({
    ...log,
    lastLine: factOf(stamp, o),
    signalLines: tellsSignal ? [...log.signalLines, factOf(stamp, o)] : log.signalLines,
  }));
  const what = tellsSignal ? `log line of ${o.container} that names a signal` : `log line of ${o.container}`;
  return note(nodeReached(next, stamp, o), o, what);
}

export const foldLogEnd = (trace: Trace, o: ObservationOf<'log-ended'>): Trace =>
  note(
    withLog(trace, o.container, (log) => ({ ...log, ended: log.ended ?? factOf({ clean: o.clean }, o) })),
    o,
    `log of ${o.container} ended${o.clean ? '' : ' (connection broke)'}`,
  );

const withLog = (trace: Trace, name: string, change: (log: LogFacts) => LogFacts): Trace =>
  withContainer(trace, name, (facts) => ({ ...facts, log: change(facts.log) }));
