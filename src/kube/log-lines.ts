import type { Deliver } from '../model/observation.ts';
import type { Cluster, StreamedResponse } from './cluster.ts';
import { takeLines } from './lines.ts';
import { setAlarm, type Alarm } from './env.ts';

/** What has been read of a log, over all its connections. */
export interface Reading {
  /** The stamp of the last line that was read, reported or not. */
  last?: string;
  received: number;
  /** When it was first opened (client ms). */
  openedAt?: number;
}

/** ms between two reported lines of a container. */
const interval = 50;
/** A longer line is cut; the kubelet itself splits at 16 KiB. */
const longestLine = 16 * 1024;

/** All lines until the end; true where the server ended it in order. */
export async function readLines(
  cluster: Cluster,
  container: string,
  response: StreamedResponse,
  reading: Reading,
  {
    signal,
    deliver,
    matters = () => false,
  }: { signal: AbortSignal; deliver: Deliver; matters?: (text: string) => boolean },
): Promise<boolean> {
  const { env } = cluster;
  const limit = createLogLimit(interval, matters);
  const report = (received: ReportedLine | undefined, at: number): void =>
    void (received && deliver({ kind: 'line', at, container, ...received }));
  const lines = takeLines(response.body, { mostBytes: longestLine, onLong: 'cut', now: () => env.now() });
  const seen = reading.last;
  let alarm: Alarm | undefined;
  try {
    for (;;) {
      let event = lines.left();
      if (event === undefined) {
        const due = limit.due();
        // One alarm for all the lines of an interval: a timer for each would be most of the work of a chatty log.
        if (due !== undefined && alarm?.at !== due) {
          alarm?.stop();
          alarm = setAlarm(env, due);
        }
        await (due === undefined || alarm === undefined ? lines.more() : Promise.race([lines.more(), alarm.rung]));
        event = lines.left();
      }
      if (signal.aborted) return false;
      const now = event?.kind === 'line' ? event.at : env.now();
      if (event === undefined || event.kind !== 'line') {
        report(limit.release(now), now);
        if (event !== undefined) return event.kind === 'end' && event.clean;
        continue;
      }
      const line = readLogLine(event.bytes);
      if (line === undefined || (seen !== undefined && !isLater(line.time, seen))) continue;
      reading.last = line.time;
      reading.received++;
      report(limit.offer(line, now), now);
    }
  } finally {
    alarm?.stop();
    response.body.destroy();
  }
}

/** `2026-11-20T23:04:29.601234567Z text`; undefined for a line without a stamp, which is the kubelet's own remark. */
export function readLogLine(bytes: Buffer): Stamped | undefined {
  const space = bytes.subarray(0, longestStamp + 1).indexOf(0x20);
  const end = space === -1 ? bytes.length : space;
  const time = bytes.toString('latin1', 0, Math.min(end, longestStamp));
  if (!stamp.test(time)) return undefined;
  return { time, text: bytes.toString('utf8', end + 1).replace(/\r$/, '') };
}

/** Whether a stamp is later than another, to the nanosecond; both are UTC where the kubelet writes them. */
export function isLater(a: string, b: string): boolean {
  return padded(a) > padded(b);
}

const longestStamp = 40;
const stamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Trailing zeros are not written, so the fraction has no fixed length: `…:05Z`, `…:05.1Z`. */
function padded(time: string): string {
  const [, seconds = '', fraction = ''] = /^(.{19})(?:\.(\d+))?/.exec(time) ?? [];
  return `${seconds}.${fraction.padEnd(9, '0')}`;
}

/** One line of a container's log, with the runtime's stamp. */
export interface Stamped {
  /** RFC 3339, nanoseconds, node clock. */
  time: string;
  text: string;
}

export interface ReportedLine extends Stamped {
  /** Lines left out since the last one that was reported. */
  skipped?: number;
}

/**
 * Lets at most one line pass in each interval, so that a container which logs 100 MB while it dies costs neither
 * memory nor time: the first line at once, then the last one of each interval. Lines that `matters` says yes to have an
 * allowance of their own, so that chatter cannot hide them.
 */
export interface LogLimit {
  /** The line, if it may be reported now. */
  offer(line: Stamped, now: number): ReportedLine | undefined;
  /** Client ms at which the line held back is due; undefined without one. */
  due(): number | undefined;
  /** The line held back. */
  release(now: number): ReportedLine | undefined;
}

export function createLogLimit(intervalMs: number, matters: (text: string) => boolean): LogLimit {
  let nextAt = Number.NEGATIVE_INFINITY;
  let nextThatMattersAt = Number.NEGATIVE_INFINITY;
  let skipped = 0;
  let held: Stamped | undefined;

  const report = (line: Stamped, now: number): ReportedLine => {
    const received = skipped === 0 ? line : { ...line, skipped };
    skipped = 0;
    held = undefined;
    nextAt = now + intervalMs;
    return received;
  };

  return {
    offer(line, now) {
      const isDue = now >= nextAt;
      const isSpecial = !isDue && now >= nextThatMattersAt && matters(line.text);
      if (held !== undefined) skipped++;
      if (isSpecial) nextThatMattersAt = now + intervalMs;
      if (isDue || isSpecial) return report(line, now);
      held = line;
      return undefined;
    },
    due: () => (held === undefined ? undefined : nextAt),
    release: (now) => (held === undefined ? undefined : report(held, now)),
  };
}
