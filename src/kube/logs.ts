import { asObject } from '../model/observe/read.ts';
import type { RawObservation } from '../model/observation.ts';
import type { Cluster, Flow } from './cluster.ts';
import { growingMs } from './decide.ts';
import { readJson } from './http/body.ts';
import { TransportFailure } from './http/failure.ts';
import { tellLines, type Reading } from './log-lines.ts';
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
  /** From then on (client ms; the server's clock may differ): what was written before our request too. Absent: from now on. */
  since?: number | undefined;
  /** Lines that chatter must not hide, e.g. those that name a stop signal. */
  matters?: (text: string) => boolean;
}

const waitingMs = 1000;

/**
 * Follows one container's log from now on: `log-opened`, its lines (at most one in 50 ms, `skipped` counts the
 * others), `log-ended`. One that is not to be had at first is a `gap` until it is. An end that was not the server's is
 * followed by attempts to go on after the last line seen; where one works, `log-opened` comes again. `refused` where the
 * server does not let us, or has no log of a pod that is still there; nothing at all where the pod is gone. Ends on abort.
 * Throws PodexitError `auth.unauthorized`.
 */
export async function* followLog(
  cluster: Cluster,
  target: LogTarget,
  options: LogOptions,
): AsyncGenerator<RawObservation, void> {
  const reading: Reading = { received: 0 };
  const { container } = target;
  for (let idle = 0; idle <= mostIdle; idle++) {
    const opened = yield* open(cluster, target, reading, options);
    if (opened === undefined) return;
    reading.openedAt ??= opened.at;
    const before = reading.received;
    const clean = yield* tellLines(cluster, container, opened, reading, options);
    if (options.signal.aborted) return;
    yield { kind: 'log-ended', at: cluster.env.now(), container, clean };
    if (clean) return;
    if (reading.received > before) idle = 0;
    // A connection that brought nothing may break again at once.
    if (idle > 0 && idle < mostIdle && !(await delay(cluster.env, growingMs(idle), options.signal))) return;
  }
}

/** Connections in a row that break without a line: a log that cannot be had. */
const mostIdle = 8;

/** Asks until the log flows; undefined where it never will (or on abort). */
async function* open(
  cluster: Cluster,
  target: LogTarget,
  reading: Reading,
  { signal, since }: LogOptions,
): AsyncGenerator<RawObservation, Flow | undefined> {
  for (let failures = 0; ; failures++) {
    const flow = await ask(cluster, target, reading, signal, since);
    if (signal.aborted) return undefined;
    if (flow !== undefined) yield* flow.dated;
    if (flow?.status === 200) {
      yield { kind: 'log-opened', at: flow.at, container: target.container };
      return flow;
    }
    const refusal =
      flow && readRefusal(flow.status, await readJson(flow.body, signal).catch(() => undefined), flow.headers);
    const step = await heedPod(cluster, target, decideLog(refusal, failures), failures, signal);
    if (signal.aborted) return undefined;
    if (step.next === 'stop') throw unauthorized(cluster);
    if (step.next === 'refused') {
      yield refusedBy(
        cluster,
        { stream: 'logs', path: pathOf(target), container: target.container },
        { refusal, verb: 'get' },
      );
    }
    if (failures === 0 && reading.openedAt === undefined && isTrouble(refusal))
      yield lateLog(cluster, target.container);
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

/** What it says meanwhile is not heard: it will be followed from when it opens. */
function lateLog({ env }: Cluster, container: string): RawObservation {
  const at = env.now();
  return { kind: 'gap', at, stream: 'logs', container, from: at, cause: 'not-synced' };
}

/** No log, and yet the pod: that is a loss. Where nobody says whether the pod is there, it is asked again. */
async function heedPod(
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
  const received = asText(asObject(asObject(answer?.body)['metadata'])['uid']);
  if (answer?.status === 404) return step;
  if (answer?.status !== 200 || received === '') return { next: 'again', ms: growingMs(failures) };
  return uid !== undefined && received !== uid ? step : { next: 'refused' };
}

async function ask(
  cluster: Cluster,
  target: LogTarget,
  reading: Reading,
  signal: AbortSignal,
  since: number | undefined,
): Promise<Flow | undefined> {
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

/** From now on; one that broke before its first line goes on from where it first flowed, whatever the server's clock shows. */
const fromOpening = ({ openedAt }: Reading, now: number): Record<string, string> =>
  openedAt === undefined ? { tailLines: '0' } : { sinceSeconds: String(Math.floor((now - openedAt) / 1000) + 1) };

function pathOf({ namespace, pod }: LogTarget): string {
  return podPath(namespace, pod, 'log');
}
