/** What a cause of a deletion is, and what happened early enough to be one. */
import { millisecondsOf } from '../model/assumptions.ts';
import { parseTime } from '../model/stamps.ts';
import type { Fact, Occurrence, Trace } from '../model/trace.ts';
import type { TriggerKind } from '../model/report.ts';
import type { Deletion } from './deletion.ts';

/** ms. Streams are not ordered among themselves: what caused a write may arrive this much after it. */
export const deliveryLag = millisecondsOf('delivery-lag');

export const arrivedInTime = <T>(fact: Fact<T> | undefined, trace: Trace, by = deliveryLag): Fact<T> | undefined =>
  fact && trace.deletion && fact.at <= trace.deletion.seenAt + by ? fact : undefined;

/** ms. A controller acts within this time on a change that it receives. */
export const controllerDelay = 10_000;

export const withinCauseWindow = <T>(fact: Fact<T> | undefined, trace: Trace): Fact<T> | undefined =>
  fact && trace.deletion && fact.at >= trace.deletion.seenAt - controllerDelay ? arrivedInTime(fact, trace) : undefined;

/** When the deletion was asked for, by the API server's clock. */
export function requestedAt({ deletion }: Trace): number {
  const { metadata } = deletion?.first.value ?? {};
  return (parseTime(metadata?.deletionTimestamp) ?? 0) - (metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
}

/** Whether a stamp (RFC 3339) lies close to the request. */
export function isStampNearRequest(stamp: string | undefined, trace: Trace): boolean {
  const at = parseTime(stamp);
  return at !== undefined && at >= requestedAt(trace) - controllerDelay && at <= requestedAt(trace) + deliveryLag;
}

/** It arrived live around the deletion, or in a list with a stamp that fits. */
export const isAroundDeletion = (event: Pick<Occurrence, 'isOld' | 'time' | 'at'>, trace: Trace): boolean =>
  event.isOld
    ? event.time.hi >= requestedAt(trace) - deliveryLag
    : event.at >= (trace.deletion?.seenAt ?? 0) - controllerDelay &&
      event.at <= (trace.gone?.at ?? Infinity) + deliveryLag;

/** A controller says that it deletes a pod. */
export const isDeleting = (event: Occurrence, trace: Trace): boolean =>
  event.reason === 'SuccessfulDelete' && isAroundDeletion(event, trace);

/** The controller's Event about this pod. One that was there before may be about an older pod of the same name. */
export function deletedBy(trace: Trace): Occurrence | undefined {
  const name = trace.deletion?.first.value.metadata.name;
  return trace.events.find(
    (event) => name !== undefined && event.message.split(/\s+/).includes(name) && isDeleting(event, trace),
  );
}

export interface Trigger {
  readonly kind: TriggerKind;
  readonly evidence: readonly number[];
  /** In words, for people: what more is known. */
  readonly note?: string;
}

/** Undefined where it does not hold. */
export type Rule = (trace: Trace, deletion: Deletion) => Trigger | undefined;
