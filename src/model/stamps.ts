/** Times of Kubernetes as ms since the epoch, on the clock of their writer. Undefined for what is no plausible time. */
import type { Pod } from './kube.ts';
import { graceOf } from './pod.ts';
import { second, type Span } from './span.ts';

/** Whether `time` (ms since the epoch) is plausible: from 2000 to 2199. */
export const isPlausibleTime = (time: number): boolean => time >= Date.UTC(2000, 0, 1) && time < Date.UTC(2200, 0, 1);

/** RFC 3339 with any number of decimals. */
export function parseTime(stamp: string | undefined): number | undefined {
  const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,12})?(?:Z|[+-]\d\d:\d\d)$/.exec(stamp ?? '');
  if (!match) return undefined;
  const [text, decimals] = match;
  const time =
    decimals === undefined ? Date.parse(text) : Date.parse(text.replace(decimals, '')) + Number(decimals) * second;
  return isPlausibleTime(time) ? time : undefined;
}

/** A timestamp of whole seconds is rounded down: the truth lies in [stamp, stamp + 1 s) (trap 33). */
export function parseFloor(stamp: string | undefined): Span | undefined {
  const time = parseTime(stamp);
  if (time === undefined) return undefined;
  return stamp?.includes('.') ? { lo: time, hi: time } : { lo: time, hi: time + second };
}

/** The nanoseconds in an Event's name: its FIRST occurrence, emitter's clock (SIGNALS.md §2.1). A UUID has none. */
export function parseEventName(name: string): number | undefined {
  const hex = /\.([0-9a-f]{14,16})$/.exec(name)?.[1];
  if (hex === undefined) return undefined;
  const time = Number(BigInt(`0x${hex}`) / 1000n) / 1000;
  return isPlausibleTime(time) ? time : undefined;
}

/** RFC 3339, UTC, ms. `toward` is the direction of rounding, so that an interval never excludes the truth. */
export function printTime(time: number, toward: 'earlier' | 'later'): string {
  const ms = toward === 'earlier' ? Math.floor(time) : Math.ceil(time);
  return new Date(Math.min(Math.max(ms, 0), Date.UTC(2200, 0, 1))).toISOString();
}

/** When the deletion was requested (SIGNALS.md §1 "First delete"): ms, API server's clock, a whole second. */
export function requestedAt(pod: Pod): number | undefined {
  const deadline = parseTime(pod.metadata.deletionTimestamp);
  return deadline === undefined ? undefined : deadline - graceOf(pod) * second;
}
