import { metadataOf } from '../model/observe/read.ts';
import type { Cluster, StreamedResponse } from './cluster.ts';
import { backoffMs } from './decide.ts';
import { lookOf } from './get.ts';
import { readJson } from './http/body.ts';
import { readLogLines, type LogOptions, type LogProgress } from './log-lines.ts';
import { refusedBy } from './refused.ts';
import { podPath } from './resource-path.ts';
import { readRefusal, type Refusal } from './status.ts';
import { delay } from './env.ts';
import { answerIfAny, unauthorized } from './server-errors.ts';

export interface LogTarget {
  namespace: string;
  pod: string;
  container: string;
  /** The pod's uid; without it, any pod of that name is accepted. */
  uid?: string;
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
