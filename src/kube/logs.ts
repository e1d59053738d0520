import type { Deliver, RawObservation } from '../model/observation.ts';
import { metadataOf } from '../model/observe/read.ts';
import type { Cluster, StreamedResponse } from './cluster.ts';
import { growingMs } from './decide.ts';
import { readJson } from './http/body.ts';
import { TransportFailure } from './http/failure.ts';
import { readLines, type Reading } from './log-lines.ts';
import { refusedBy } from './refused.ts';
import { podPath } from './resource-path.ts';
import { asText, readRefusal, type Refusal } from './status.ts';
import { delay } from './env.ts';
import { unauthorized } from './server-errors.ts';

export interface LogTarget {
  namespace: string;
  pod: string;
  container: string;
  /** Of the pod; where it is not known, the pod of that name is taken for it. */
  uid?: string;
}

export interface LogOptions {
  signal: AbortSignal;
  deliver: Deliver;
  /** From then on (client ms; the server's clock may differ): what was written before our request too. Absent: from now on. */
  since?: number | undefined;
  /** Lines that chatter must not hide, e.g. those that name a stop signal. */
  matters?: (text: string) => boolean;
}

const waitingMs = 1000;

/**
 * Follows one container's log from now on: `log-opened`, its lines (at most one in 50 ms, `skipped` counts the
 * others), `log-ended`. One that does not open at first is a `gap` until it does. After an end that was not the server's it
 * is opened again after the last line seen; where that works, `log-opened` comes again. `refused` where the
 * server refuses it, or has no log of a pod that is still there; nothing at all where the pod is gone. Ends on abort.
 * Throws PodexitError `auth.unauthorized`.
 */
export async function followLog(cluster: Cluster, target: LogTarget, options: LogOptions): Promise<void> {
  const reading: Reading = { received: 0 };
  const { container } = target;
  for (let idle = 0; idle <= mostIdle; idle++) {
    const opened = await openLog(cluster, target, reading, options);
    if (opened === undefined) return;
    reading.openedAt ??= opened.at;
    const before = reading.received;
    const clean = await readLines(cluster, container, opened, reading, options);
    if (options.signal.aborted) return;
    options.deliver({ kind: 'log-ended', at: cluster.env.now(), container, clean });
    if (clean) return;
    if (reading.received > before) idle = 0;
    // A connection that brought nothing may break again at once.
    if (idle > 0 && idle < mostIdle && !(await delay(cluster.env, growingMs(idle), options.signal))) return;
  }
}

/** Connections in a row that break without a line: this log cannot be read. */
const mostIdle = 8;

/** Tries until the log opens; undefined where it never will (or on abort). */
async function openLog(
  cluster: Cluster,
  target: LogTarget,
  reading: Reading,
  { signal, since, deliver }: LogOptions,
): Promise<StreamedResponse | undefined> {
  for (let failures = 0; ; failures++) {
    const response = await requestLog(cluster, target, reading, signal, since);
    if (signal.aborted) return undefined;
    response?.dated.forEach(deliver);
    if (response?.status === 200) {
      deliver({ kind: 'log-opened', at: response.at, container: target.container });
      return response;
    }
    const refusal =
      response &&
      readRefusal(response.status, await readJson(response.body, signal).catch(() => undefined), response.headers);
    const step = await confirmGone(cluster, target, decideLog(refusal, failures), failures, signal);
    if (signal.aborted) return undefined;
    if (step.next === 'stop') throw unauthorized(cluster);
    if (step.next === 'refused') {
      const log = { stream: 'logs', path: pathOf(target), container: target.container } as const;
      deliver(refusedBy(cluster, log, { refusal, verb: 'get' }));
    }
    if (failures === 0 && reading.openedAt === undefined && isTrouble(refusal))
      deliver(lateLog(cluster, target.container));
    if (step.next !== 'again' || !(await delay(cluster.env, step.ms, signal))) return undefined;
  }
}

type LogStep = { next: 'again'; ms: number } | { next: 'gone' | 'refused' | 'stop' };

/** What to do with a log that does not open. `refusal` is undefined where there was no answer. */
function decideLog(refusal: Refusal | undefined, failures: number): LogStep {
  if (refusal === undefined) return { next: 'again', ms: growingMs(failures) };
  const { status, message, retryAfterMs } = refusal;
  // errors.ndjson: `container "pend" in pod "pend" is waiting to start: …`
  if (status === 400 && message.includes('waiting to start')) return { next: 'again', ms: waitingMs };
  if (status === 401) return { next: 'stop' };
  // The pod is gone, or the kubelet has dropped it (SIGNALS §5: new log requests fail then).
  if (status === 404) return { next: 'gone' };
  if (isTrouble(refusal)) return { next: 'again', ms: retryAfterMs ?? growingMs(failures) };
  return { next: 'refused' };
}

/** Of the server or the way to it, and not of the log. */
const isTrouble = (refusal: Refusal | undefined): boolean =>
  refusal === undefined || refusal.status === 429 || refusal.status >= 500;

/** What is logged meanwhile is missed: the log is followed from when it opens. */
function lateLog({ env }: Cluster, container: string): RawObservation {
  const at = env.now();
  return { kind: 'gap', at, stream: 'logs', container, from: at, cause: 'not-synced' };
}

/** A log that is gone while its pod exists is a loss. Where it is unknown whether the pod exists, it is tried again. */
async function confirmGone(
  cluster: Cluster,
  { namespace, pod, uid }: LogTarget,
  step: LogStep,
  failures: number,
  signal: AbortSignal,
): Promise<LogStep> {
  if (step.next !== 'gone') return step;
  const answer = await cluster
    .request({ method: 'GET', path: podPath(namespace, pod), signal })
    .catch((error: unknown) => {
      if (error instanceof TransportFailure || signal.aborted) return undefined;
      throw error;
    });
  const received = asText(metadataOf(answer?.body)['uid']);
  if (answer?.status === 404) return step;
  if (answer?.status !== 200 || received === '') return { next: 'again', ms: growingMs(failures) };
  return uid !== undefined && received !== uid ? step : { next: 'refused' };
}

async function requestLog(
  cluster: Cluster,
  target: LogTarget,
  reading: Reading,
  signal: AbortSignal,
  since: number | undefined,
): Promise<StreamedResponse | undefined> {
  try {
    // sinceTime is cut to whole seconds on its way to the kubelet, so what we know already is left out again below.
    const start = reading.last ?? (since === undefined ? undefined : new Date(since).toISOString());
    const from = start === undefined ? fromOpening(reading, cluster.env.now()) : { sinceTime: start };
    const query = { container: target.container, follow: 'true', timestamps: 'true', ...from };
    return await cluster.stream({ method: 'GET', path: pathOf(target), query, accept: '*/*', signal });
  } catch (error) {
    if (error instanceof TransportFailure || signal.aborted) return undefined;
    throw error;
  }
}

/** From now on; one that broke before its first line goes on from where it was first opened, whatever the server's clock shows. */
const fromOpening = ({ openedAt }: Reading, now: number): Record<string, string> =>
  openedAt === undefined ? { tailLines: '0' } : { sinceSeconds: String(Math.floor((now - openedAt) / 1000) + 1) };

function pathOf({ namespace, pod }: LogTarget): string {
  return podPath(namespace, pod, 'log');
}
