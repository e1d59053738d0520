import { metadataOf } from '../model/observe/read.ts';
import type { Cluster, StreamedResponse } from './cluster.ts';
import { backoffMs } from './decide.ts';
import { lookOf } from './get.ts';
import { readJson, takeLines } from './http/body.ts';
import { refusedBy } from './refused.ts';
import { podPath } from './resource-path.ts';
import { readRefusal, type Refusal } from './status.ts';
import { delay } from './env.ts';
import { answerIfAny, unauthorized } from './server-errors.ts';
import type { Deliver } from '../model/observation.ts';

export interface LogTarget {
  namespace: string;
  pod: string;
  container: string;
  /** The pod's uid; without it, any pod of that name is accepted. */
  uid?: string;
}

export interface LogOptions {
  signal: AbortSignal;
  deliver: Deliver;
  /** Client ms: read what was written since then (the server's clock may differ). Absent: read from now on. */
  since?: number | undefined;
  /** Lines that chatter must not hide, e.g. those that name a stop signal. */
  matters?: (text: string) => boolean;
}

/** What has been read of a log, over all its connections. */
interface LogProgress {
  /** The timestamp of the last line that was read, reported or not. */
  lastTime?: string;
  lineCount: number;
  /** When it was first opened (client ms). */
  openedAt?: number;
}

/**
 * Follows one container's log from now on: `log-opened`, its lines (at most one in 50 ms; `skipped` counts the others),
 * `log-ended`. A log that does not open at first is a `gap` until it does. If the connection breaks, the log is opened
 * again after the last line read, with another `log-opened`. `refused` if the server refuses the log, or has none
 * although the pod still exists; nothing at all if the pod is gone. Ends on abort. Throws PodexitError
 * `auth.unauthorized`.
 */
export async function followLog(cluster: Cluster, target: LogTarget, options: LogOptions): Promise<void> {
  const progress: LogProgress = { lineCount: 0 };
  const { container } = target;
  for (let idle = 0; idle <= maxIdleConnections; idle++) {
    const opened = await openLog(cluster, target, progress, options);
    if (opened === undefined) return;
    progress.openedAt ??= opened.at;
    const before = progress.lineCount;
    const clean = await readLogLines(cluster, container, opened, progress, options);
    if (options.signal.aborted) return;
    options.deliver({ kind: 'log-ended', at: cluster.env.now(), container, clean });
    if (clean) return;
    if (progress.lineCount > before) idle = 0;
    // A connection that brought nothing may break again at once.
    if (idle > 0 && idle < maxIdleConnections && !(await delay(cluster.env, backoffMs(idle), options.signal))) return;
  }
}

/** After so many consecutive connections without a line, this log cannot be read. */
const maxIdleConnections = 8;

/** Retries until the log opens; undefined if it never will, or on abort. The answer waits for the kubelet: no `Date`. */
async function openLog(
  cluster: Cluster,
  target: LogTarget,
  progress: LogProgress,
  { signal, since, deliver }: LogOptions,
): Promise<StreamedResponse | undefined> {
  for (let failures = 0; ; failures++) {
    const response = await requestLog(cluster, target, progress, signal, since);
    if (signal.aborted) return undefined;
    if (response?.status === 200) {
      deliver({ kind: 'log-opened', at: response.at, container: target.container });
      return response;
    }
    const refusal =
      response &&
      readRefusal(response.status, await readJson(response.body, signal).catch(() => undefined), response.headers);
    const next = await decideLog(cluster, target, refusal, failures, signal);
    if (signal.aborted) return undefined;
    if (next === 'refused') {
      const log = { stream: 'logs', path: pathOf(target), container: target.container } as const;
      deliver(refusedBy(cluster, log, { refusal, verb: 'get' }));
    }
    if (failures === 0 && progress.openedAt === undefined && isServerTrouble(refusal)) {
      // Lines logged before the log opens are missed: it is followed from then on.
      const at = cluster.env.now();
      deliver({ kind: 'gap', at, stream: 'logs', container: target.container, from: at, cause: 'not-synced' });
    }
    if (typeof next === 'string' || !(await delay(cluster.env, next, signal))) return undefined;
  }
}

/**
 * What to do with a log that does not open: ms until the next try, or how it ends. `refusal` is undefined if there was
 * no answer. Throws PodexitError `auth.unauthorized`.
 */
async function decideLog(
  cluster: Cluster,
  { namespace, pod, uid }: LogTarget,
  refusal: Refusal | undefined,
  failures: number,
  signal: AbortSignal,
): Promise<number | 'gone' | 'refused'> {
  if (refusal === undefined || isServerTrouble(refusal)) return refusal?.retryAfterMs ?? backoffMs(failures);
  const { status, message } = refusal;
  // errors.ndjson: `container "pend" in pod "pend" is waiting to start: …`
  if (status === 400 && message.includes('waiting to start')) return 1000; // ms until it may have started
  if (status === 401) throw unauthorized(cluster);
  if (status !== 404) return 'refused';
  // The pod is gone, or the kubelet has dropped it (SIGNALS §5: new log requests fail then).
  const answer = await answerIfAny(cluster.request({ method: 'GET', path: podPath(namespace, pod), signal }), signal);
  const look = answer && lookOf(answer);
  if (!look) return backoffMs(failures);
  return look.object && (uid === undefined || metadataOf(look.object)['uid'] === uid) ? 'refused' : 'gone';
}

/** A problem of the server or the connection, not of this log; also a proxy's own page, which is no Status. */
const isServerTrouble = (refusal: Refusal | undefined): boolean =>
  refusal === undefined ||
  refusal.status === 429 ||
  refusal.status >= 500 ||
  (refusal.isPage === true && refusal.status !== 401);

async function requestLog(
  cluster: Cluster,
  target: LogTarget,
  progress: LogProgress,
  signal: AbortSignal,
  since: number | undefined,
): Promise<StreamedResponse | undefined> {
  // sinceTime is cut to whole seconds on its way to the kubelet, so readLines skips the lines that are already known.
  const start = progress.lastTime ?? (since === undefined ? undefined : new Date(since).toISOString());
  // A log that broke before its first line: from its first opening, whatever the server's clock shows.
  const { openedAt } = progress;
  const openedFor = openedAt === undefined ? undefined : Math.floor((cluster.env.now() - openedAt) / 1000) + 1;
  const fromOpening = openedFor === undefined ? { tailLines: '0' } : { sinceSeconds: String(openedFor) };
  const from = start === undefined ? fromOpening : { sinceTime: start };
  const query = { container: target.container, follow: 'true', timestamps: 'true', ...from };
  return await answerIfAny(
    cluster.stream({ method: 'GET', path: pathOf(target), query, accept: '*/*', signal }),
    signal,
  );
}

const pathOf = ({ namespace, pod }: LogTarget): string => podPath(namespace, pod, 'log');

/** Reads all lines until the end, and reports one in 50 ms; true if the server ended the log normally. */
async function readLogLines(
  cluster: Cluster,
  container: string,
  response: StreamedResponse,
  progress: LogProgress,
  { signal, deliver, matters = () => false }: LogOptions,
): Promise<boolean> {
  const { env } = cluster;
  const limit = createLogLimit(50, matters);
  const report = (received: ReportedLine | undefined, at: number): void =>
    void (received && deliver({ kind: 'line', at, container, ...received }));
  // The kubelet itself splits at 16 KiB.
  const next = takeLines(response.body, env, 16 * 1024);
  const seen = progress.lastTime;
  try {
    for (;;) {
      const due = limit.due();
      const event = await next(due === undefined ? undefined : Math.max(0, due - env.now()));
      if (signal.aborted) return false;
      const now = event?.kind === 'line' ? event.at : env.now();
      if (event?.kind !== 'line') {
        report(limit.release(now), now);
        if (event !== undefined) return event.clean;
        continue;
      }
      const line = readLogLine(event.bytes);
      if (line === undefined || (seen !== undefined && !isLater(line.time, seen))) continue;
      progress.lastTime = line.time;
      progress.lineCount++;
      report(limit.offer(line, now), now);
    }
  } finally {
    response.body.destroy();
  }
}

/** Parses `2026-11-20T23:04:29.601234567Z text`; undefined without a timestamp: such a line is the kubelet's own. */
export function readLogLine(bytes: Buffer): StampedLine | undefined {
  const [, time, text = ''] = stamped.exec(bytes.toString('utf8')) ?? [];
  return time === undefined ? undefined : { time, text: text.replace(/\r$/, '') };
}

const stamped = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))(?: (.*))?$/s;

/** Whether timestamp `a` is later than `b`, to the nanosecond. The kubelet writes both in UTC. */
export const isLater = (a: string, b: string): boolean => padded(a) > padded(b);

/** Trailing zeros are not written, so the fraction has no fixed length: `…:05Z`, `…:05.1Z`. */
function padded(time: string): string {
  const [, seconds = '', fraction = ''] = /^(.{19})(?:\.(\d+))?/.exec(time) ?? [];
  return `${seconds}.${fraction.padEnd(9, '0')}`;
}

/** One line of a container's log, with the container runtime's timestamp. */
interface StampedLine {
  /** RFC 3339, nanoseconds, node clock. */
  time: string;
  text: string;
}

interface ReportedLine extends StampedLine {
  /** Lines left out since the last one that was reported. */
  skipped?: number;
}

/**
 * Reports at most one line per interval, so that a container which logs 100 MB while it exits costs neither memory nor
 * time: the first line at once, then the last one of each interval. Lines that `matters` accepts have the same limit
 * once more, so that chatter cannot hide them.
 */
export function createLogLimit(intervalMs: number, matters: (text: string) => boolean) {
  let nextAt = Number.NEGATIVE_INFINITY;
  let nextThatMattersAt = Number.NEGATIVE_INFINITY;
  let skipped = 0;
  let held: StampedLine | undefined;

  const report = (line: StampedLine, now: number): ReportedLine => {
    const received = skipped === 0 ? line : { ...line, skipped };
    skipped = 0;
    held = undefined;
    nextAt = now + intervalMs;
    return received;
  };

  return {
    /** The line, if it may be reported now. */
    offer(line: StampedLine, now: number): ReportedLine | undefined {
      const isDue = now >= nextAt;
      const isImportant = !isDue && now >= nextThatMattersAt && matters(line.text);
      if (held !== undefined) skipped++;
      if (isImportant) nextThatMattersAt = now + intervalMs;
      if (isDue || isImportant) return report(line, now);
      held = line;
      return undefined;
    },
    /** Client ms at which the line held back is due; undefined if there is none. */
    due: (): number | undefined => (held === undefined ? undefined : nextAt),
    release: (now: number): ReportedLine | undefined => (held === undefined ? undefined : report(held, now)),
  };
}
