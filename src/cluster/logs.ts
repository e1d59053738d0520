import type { Sighting } from '../trace/observation.ts';
import type { Cluster, Flow } from './cluster.ts';
import { readJson } from './http/body.ts';
import { TransportFailure } from './http/failure.ts';
import type { LineEvent } from './lines.ts';
import { readLines } from './lines.ts';
import type { Told } from './log-limit.ts';
import { createLogLimit } from './log-limit.ts';
import { isLater, readLogLine } from './log-line.ts';
import { refusedBy } from './refused.ts';
import { podPath } from './resource-path.ts';
import type { Refusal } from './status.ts';
import { readRefusal } from './status.ts';
import type { Alarm } from './surroundings.ts';
import { passed, setAlarm } from './surroundings.ts';
import { unauthorized } from './trouble.ts';

export interface LogTarget {
  namespace: string;
  pod: string;
  container: string;
}

export interface LogOptions {
  signal: AbortSignal;
  /** Lines that chatter must not hide, e.g. those that name a stop signal. */
  matters?: (text: string) => boolean;
}

const interval = 50;
const longestLine = 16 * 1024;
const waitingMs = 1000;

/**
 * Follows one container's log from now on: `log-opened`, its lines (at most one in 50 ms, `skipped` counts the
 * others), `log-ended`. An end that was not the server's is followed by one attempt to go on after the last line seen;
 * where that works, `log-opened` comes again. `refused` where the server does not let us; nothing at all where the
 * pod is gone. Ends on abort. Throws PodexitError `auth.unauthorized`.
 */
export async function* followLog(
  cluster: Cluster,
  target: LogTarget,
  options: LogOptions,
): AsyncGenerator<Sighting, void> {
  const reading: Reading = { told: 0 };
  for (;;) {
    const opened = yield* open(cluster, target, reading, options.signal);
    if (opened === undefined) return;
    const before = reading.told;
    const clean = yield* tellLines(cluster, target, opened, reading, options);
    if (options.signal.aborted) return;
    yield { kind: 'log-ended', at: cluster.surroundings.now(), container: target.container, clean };
    // A second break without a line in between is a log that cannot be had.
    if (clean || (reading.resumed && reading.told === before)) return;
    reading.resumed = true;
  }
}

interface Reading {
  /** The stamp of the last line that was read, told or not. */
  last?: string;
  told: number;
  resumed?: boolean;
}

/** Asks until the log flows; undefined where it never will (or on abort). */
async function* open(
  cluster: Cluster,
  target: LogTarget,
  reading: Reading,
  signal: AbortSignal,
): AsyncGenerator<Sighting, Flow | undefined> {
  for (let failures = 0; ; failures++) {
    const flow = await ask(cluster, target, reading, signal);
    if (signal.aborted) return undefined;
    if (flow !== undefined) yield* flow.dated;
    if (flow?.status === 200) {
      yield { kind: 'log-opened', at: flow.at, container: target.container };
      return flow;
    }
    const refusal =
      flow && readRefusal(flow.status, await readJson(flow.body, signal).catch(() => undefined), flow.headers);
    const step = decideLog(refusal, failures);
    if (step.next === 'stop') throw unauthorized(cluster);
    if (step.next === 'refused') {
      yield refusedBy(
        cluster,
        { stream: 'logs', path: pathOf(target), container: target.container },
        { ...(refusal && { refusal }), verb: 'get' },
      );
    }
    if (step.next !== 'again' || !(await passed(cluster.surroundings, step.ms, signal))) return undefined;
  }
}

type LogStep = { next: 'again'; ms: number } | { next: 'gone' | 'refused' | 'stop' };

/** What to do with a log that does not open. `refusal` is undefined where there was no answer. */
export function decideLog(refusal: Refusal | undefined, failures: number): LogStep {
  const patience = Math.min(5000, 250 * 2 ** Math.min(failures, 8));
  if (refusal === undefined) return { next: 'again', ms: patience };
  const { status, message, retryAfterMs } = refusal;
  // errors.ndjson: `container "pend" in pod "pend" is waiting to start: …`
  if (status === 400 && message.includes('waiting to start')) return { next: 'again', ms: waitingMs };
  if (status === 401) return { next: 'stop' };
  // The pod is gone, or the kubelet has dropped it (SIGNALS §5: new log requests fail then).
  if (status === 404) return { next: 'gone' };
  if (status === 429 || status >= 500) return { next: 'again', ms: retryAfterMs ?? patience };
  return { next: 'refused' };
}

async function ask(
  cluster: Cluster,
  target: LogTarget,
  reading: Reading,
  signal: AbortSignal,
): Promise<Flow | undefined> {
  try {
    // sinceTime is cut to whole seconds on its way to the kubelet, so what we know already is left out again below.
    const from: Record<string, string> = reading.last === undefined ? { tailLines: '0' } : { sinceTime: reading.last };
    const query = { container: target.container, follow: 'true', timestamps: 'true', ...from };
    return await cluster.stream({ method: 'GET', path: pathOf(target), query, accept: '*/*', signal });
  } catch (error) {
    if (error instanceof TransportFailure || signal.aborted) return undefined;
    throw error;
  }
}

function pathOf({ namespace, pod }: LogTarget): string {
  return podPath(namespace, pod, 'log');
}

/** All lines until the end; true where the server ended it in order. */
async function* tellLines(
  cluster: Cluster,
  { container }: LogTarget,
  flow: Flow,
  reading: Reading,
  { signal, matters = () => false }: LogOptions,
): AsyncGenerator<Sighting, boolean> {
  const { surroundings } = cluster;
  const limit = createLogLimit(interval, matters);
  const sighting = (told: Told): Sighting => ({ kind: 'line', at: surroundings.now(), container, ...told });
  const lines = readLines(flow.body, { mostBytes: longestLine, onLong: 'cut' });
  const seen = reading.last;
  let pending: Promise<LineEvent> | undefined;
  let alarm: Alarm | undefined;
  try {
    for (;;) {
      pending ??= lines.next().then(({ value }) => value ?? { kind: 'end', clean: true });
      const due = limit.due();
      // One alarm for all the lines of an interval: a timer for each would be most of the work of a chatty log.
      if (due !== undefined && alarm?.at !== due) {
        alarm?.stop();
        alarm = setAlarm(surroundings, due);
      }
      const event = await (due === undefined || alarm === undefined ? pending : Promise.race([pending, alarm.rung]));
      if (signal.aborted) return false;
      const now = surroundings.now();
      if (event === undefined || event.kind !== 'line') {
        const held = limit.release(now);
        if (held !== undefined) yield sighting(held);
        if (event !== undefined) return event.kind === 'end' && event.clean;
        continue;
      }
      pending = undefined;
      const line = readLogLine(event.bytes);
      if (line === undefined || (seen !== undefined && !isLater(line.time, seen))) continue;
      reading.last = line.time;
      reading.told++;
      const told = limit.offer(line, now);
      if (told !== undefined) yield sighting(told);
    }
  } finally {
    alarm?.stop();
    flow.body.destroy();
  }
}
