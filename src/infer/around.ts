/** What happened around the deletion, early enough to have caused it. */
import { millisecondsOf } from '../model/assumptions.ts';
import { parseTime } from '../model/stamps.ts';
import type { Fact, Occurrence, Trace } from '../model/trace.ts';

/** Streams come late against one another: what caused a write may be told after it. */
export const late = millisecondsOf('delivery-lag');

export const inTime = <T>(fact: Fact<T> | undefined, trace: Trace, by = late): Fact<T> | undefined =>
  fact && trace.deletion && fact.at <= trace.deletion.seenAt + by ? fact : undefined;

/** A controller acts on what it was told within seconds. */
export const prompt = 10_000;

export const near = <T>(fact: Fact<T> | undefined, trace: Trace): Fact<T> | undefined =>
  fact && trace.deletion && fact.at >= trace.deletion.seenAt - prompt ? inTime(fact, trace) : undefined;

/** When the deletion was asked for, by the API server's clock. */
export function askedAt({ deletion }: Trace): number {
  const { metadata } = deletion?.first.value ?? {};
  return (parseTime(metadata?.deletionTimestamp) ?? 0) - (metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
}

/** A stamp (RFC 3339) of about then. */
export function isNearStamp(stamp: string | undefined, trace: Trace): boolean {
  const at = parseTime(stamp);
  return at !== undefined && at >= askedAt(trace) - prompt && at <= askedAt(trace) + late;
}

/** Told live about then, or by a list with a stamp that fits. */
export const isTimely = (event: Pick<Occurrence, 'isOld' | 'time' | 'at'>, trace: Trace): boolean =>
  event.isOld
    ? event.time.hi >= askedAt(trace) - late
    : event.at >= (trace.deletion?.seenAt ?? 0) - prompt && event.at <= (trace.gone?.at ?? Infinity) + late;
