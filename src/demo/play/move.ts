import { isRecord, type KubeObject } from '../data/kube-object.ts';
import { formatStamp, fromMs, nsPerMs, nsPerSecond, parseStamp, type Nanoseconds } from '../clock.ts';
import type { LogLine } from './container-log.ts';
import { toRunTime, type Moments } from './player.ts';
import type { PreparedScenario } from './prepare.ts';

export type Mover = ReturnType<typeof createMover>;

interface Context {
  uid: string;
  seenAt: number;
  /** The time in an Event's name. */
  nameTime?: Nanoseconds;
  /** The name of the object, if it is a pod. */
  pod?: string;
  /** Within a container's status: the container's name. */
  container?: string;
}

/** Moves recorded objects to this run; equal timestamps in the same field of an object or container stay equal. */
export function createMover(scenario: PreparedScenario, moments: Moments) {
  const known = new Map<string, string>();

  function remembered(context: Context, field: string, value: string, make: () => string): string {
    const key = `${context.uid} ${context.container ?? ''} ${field} ${value}`;
    const moved = known.get(key) ?? make();
    known.set(key, moved);
    return moved;
  }

  const time = (at: Nanoseconds): Nanoseconds => toRunTime(scenario, moments, at);

  function walk(value: unknown, context: Context, field = ''): unknown {
    if (Array.isArray(value)) return value.map((one) => walk(one, context, field));
    if (isRecord(value)) return walkFields(value, containerWithin(value, context));
    const stamp = typeof value === 'string' && timeFields.has(field) ? parseStamp(value) : undefined;
    if (stamp === undefined) return value;
    return remembered(context, field, value as string, () => {
      const at = stamp.digits > 0 ? stamp.at : guess(scenario, stamp.at, field, context);
      return formatStamp(time(at), stamp.digits);
    });
  }

  function walkFields(value: Record<string, unknown>, context: Context): Record<string, unknown> {
    const grace = value.deletionGracePeriodSeconds;
    return Object.fromEntries(
      Object.entries(value).map(([field, inner]) => {
        if (field !== 'deletionTimestamp' || typeof inner !== 'string') return [field, walk(inner, context, field)];
        return [field, deadline(inner, typeof grace === 'number' ? grace : 0, context)];
      }),
    );
  }

  function deadline(value: string, grace: number, context: Context): string {
    return remembered(context, `deletionTimestamp ${grace}`, value, () => {
      const at = uncutDeadline(parseStamp(value)?.at ?? 0n, grace, context.seenAt);
      const graceNs = BigInt(grace) * nsPerSecond;
      return formatStamp(time(at - graceNs) + graceNs, 0);
    });
  }

  return {
    line: ({ stamp, text }: LogLine): LogLine => ({ stamp: time(stamp), text }),
    /** The object with every time in it moved to this run; `seenAt` is the recorded arrival, in milliseconds. */
    object(recorded: KubeObject, seenAt: number): KubeObject {
      const context = contextOf(recorded, seenAt);
      const moved = walk(recorded, context) as KubeObject;
      if (context.nameTime === undefined) return moved;
      const { name } = recorded.metadata;
      const newName = `${name.slice(0, name.lastIndexOf('.'))}.${time(context.nameTime).toString(16)}`;
      return { ...moved, metadata: { ...moved.metadata, name: newName } };
    },
  };
}

const timeFields = new Set([
  'creationTimestamp',
  'time',
  'timeAdded',
  'endpoints.kubernetes.io/last-change-trigger-time',
  'firstTimestamp',
  'lastTimestamp',
  'eventTime',
  'lastObservedTime',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastHeartbeatTime',
  'startTime',
  'startedAt',
  'finishedAt',
  'renewTime',
]);

function contextOf(object: KubeObject, seenAt: number): Context {
  const name = object.metadata.name;
  const isEvent = object.kind === 'Event';
  const nameTime = isEvent ? /\.([0-9a-f]{16})$/.exec(name)?.[1] : undefined;
  return {
    uid: object.metadata.uid ?? `${object.kind} ${name}`,
    seenAt,
    nameTime: nameTime === undefined ? undefined : BigInt(`0x${nameTime}`),
    pod: object.kind === 'Pod' ? name : undefined,
  };
}

/** Adds the container's name within its status: two containers may end in the same second. */
function containerWithin(value: Record<string, unknown>, context: Context): Context {
  const isStatus = typeof value.name === 'string' && typeof value.restartCount === 'number';
  return isStatus ? { ...context, container: value.name as string } : context;
}

/** When the container may have ended: the exits in the runtime's log, then its log lines, last one first. */
function endsOf({ truths, steps }: PreparedScenario, { pod, container }: Context): Nanoseconds[] {
  const isOwn = (one: { pod: string; container: string }) => one.pod === pod && one.container === container;
  const exits = truths.filter(isOwn).flatMap((truth) => parseStamp(truth.exited ?? '') ?? []);
  const lines = steps.flatMap((step) => (step.kind === 'log' && isOwn(step) ? [step.line.stamp] : []));
  return [...exits.map((stamp) => stamp.at), ...lines.reverse()];
}

function guess(scenario: PreparedScenario, stamp: Nanoseconds, field: string, context: Context): Nanoseconds {
  const { nameTime, seenAt } = context;
  const isSecondOf = (at: Nanoseconds) => at - stamp >= 0n && at - stamp < nsPerSecond;
  if (field === 'finishedAt')
    return within(stamp, endsOf(scenario, context).find(isSecondOf) ?? fromMs(seenAt) - exitToArrivalNs);
  if (nameTime === undefined) return guessFromArrival(stamp, seenAt);
  if (field === 'creationTimestamp') return within(stamp, nameTime + eventToStoreNs);
  return isSecondOf(nameTime) ? nameTime : guessFromArrival(stamp, seenAt);
}

/** From a write in the cluster to its arrival at the recorder; measured in recordings that show both. */
const writeToArrivalNs = 4n * nsPerMs;
/** From a container's exit to the arrival of the status that shows it (SIGNALS.md §0, 6: 85 to 110 ms). */
const exitToArrivalNs = 95n * nsPerMs;
/** From the time in an Event's name to the API server's creationTimestamp. */
const eventToStoreNs = 5n * nsPerMs;

/**
 * Guesses the time behind a timestamp that was cut to whole seconds. The guess stays within that second, so that it
 * can be moved and cut again. `seenAt`: when the recorder first saw the timestamp, in milliseconds.
 */
function guessFromArrival(stamp: Nanoseconds, seenAt: number): Nanoseconds {
  const arrival = fromMs(seenAt);
  // Of an old timestamp only the second is known. Its start is certainly not after what followed.
  if (arrival - stamp > 2n * nsPerSecond) return stamp;
  return within(stamp, arrival - writeToArrivalNs);
}

/** The deletionTimestamp before it was cut to whole seconds: when the DELETE was accepted, plus the grace period. */
function uncutDeadline(deadline: Nanoseconds, graceSeconds: number, seenAt: number): Nanoseconds {
  const grace = BigInt(graceSeconds) * nsPerSecond;
  const arrival = fromMs(seenAt) - writeToArrivalNs;
  // A deadline that would be in the past is stored as "now" with 1 s (SIGNALS.md §1, repeat delete).
  const isNow = arrival - deadline < nsPerSecond && arrival >= deadline;
  return isNow ? within(deadline, arrival) : within(deadline - grace, arrival) + grace;
}

/** The time, or the nearest one within the second. */
function within(second: Nanoseconds, time: Nanoseconds): Nanoseconds {
  const last = second + nsPerSecond - 1n;
  return time < second ? second : time > last ? last : time;
}
