import type { Deliver } from '../model/observation.ts';
import type { Cluster, StreamedResponse } from './cluster.ts';
import { takeLines } from './lines.ts';

export interface LogOptions {
  signal: AbortSignal;
  deliver: Deliver;
  /** Client ms: read what was written since then (the server's clock may differ). Absent: read from now on. */
  since?: number | undefined;
  /** Lines that chatter must not hide, e.g. those that name a stop signal. */
  matters?: (text: string) => boolean;
}

/** What has been read of a log, over all its connections. */
export interface LogProgress {
  /** The timestamp of the last line that was read, reported or not. */
  lastTime?: string;
  lineCount: number;
  /** When it was first opened (client ms). */
  openedAt?: number;
}

/** Reads all lines until the end, and reports one in 50 ms; true if the server ended the log normally. */
export async function readLogLines(
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
