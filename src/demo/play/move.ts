import { isRecord, type KubeObject } from '../data/kube-object.ts';
import { formatStamp, fromMs, parseStamp, perSecond, type Nanoseconds } from '../clock.ts';
import { toRunTime, type Moments } from './director.ts';
import type { Story } from './story.ts';

export type Mover = ReturnType<typeof createMover>;

interface Context {
  uid: string;
  seenAt: number;
  /** An Event's name in nanoseconds. */
  made?: Nanoseconds;
  /** Of a pod: its name. */
  pod?: string;
  /** Within a container's status: the container's name. */
  container?: string;
}

/** Moves recorded objects; the same recorded stamp of one container's, else one object's, field is always moved alike. */
export function createMover(story: Story, moments: Moments) {
  const known = new Map<string, string>();

  function remembered(context: Context, field: string, value: string, make: () => string): string {
    const key = `${context.uid} ${context.container ?? ''} ${field} ${value}`;
    const moved = known.get(key) ?? make();
    known.set(key, moved);
    return moved;
  }

  const time = (at: Nanoseconds): Nanoseconds => toRunTime(story, moments, at);

  function walk(value: unknown, context: Context, field = ''): unknown {
    if (Array.isArray(value)) return value.map((one) => walk(one, context, field));
    if (isRecord(value)) return walkFields(value, containerWithin(value, context));
    const stamp = typeof value === 'string' && timeFields.has(field) ? parseStamp(value) : undefined;
    if (stamp === undefined) return value;
    return remembered(context, field, value as string, () => {
      const at = stamp.digits > 0 ? stamp.at : guess(story, stamp.at, field, context);
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
      const at = acceptance(parseStamp(value)?.at ?? 0n, grace, context.seenAt);
      const graceNs = BigInt(grace) * 1_000_000_000n;
      return formatStamp(time(at - graceNs) + graceNs, 0);
    });
  }

  return {
    time,
    /** The object with every time in it moved to this run; `seenAt` is the recorded arrival, in milliseconds. */
    object(recorded: KubeObject, seenAt: number): KubeObject {
      const context = contextOf(recorded, seenAt);
      const moved = walk(recorded, context) as KubeObject;
      if (context.made === undefined) return moved;
      const { name } = recorded.metadata;
      const newName = `${name.slice(0, name.lastIndexOf('.'))}.${time(context.made).toString(16)}`;
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
  const made = isEvent ? /\.([0-9a-f]{16})$/.exec(name)?.[1] : undefined;
  return {
    uid: object.metadata.uid ?? `${object.kind} ${name}`,
    seenAt,
    made: made === undefined ? undefined : BigInt(`0x${made}`),
    pod: object.kind === 'Pod' ? name : undefined,
  };
}

/** Two containers may end in the same second: an end is looked up by whose it is. */
function containerWithin(value: Record<string, unknown>, context: Context): Context {
  const isStatus = typeof value.name === 'string' && typeof value.restartCount === 'number';
  return isStatus ? { ...context, container: value.name as string } : context;
}

/** What the runtime's log says about the container's ends, else the last lines it wrote. */
function endsOf({ truths, cues }: Story, { pod, container }: Context): Nanoseconds[] {
  const isOwn = (one: { pod: string; container: string }) => one.pod === pod && one.container === container;
  const exits = truths.filter(isOwn).flatMap((truth) => parseStamp(truth.exited ?? '') ?? []);
  const lines = cues.flatMap((cue) => (cue.kind === 'log' && isOwn(cue) ? [cue.line.stamp] : []));
  return [...exits.map((stamp) => stamp.at), ...lines.reverse()];
}

function guess(story: Story, stamp: Nanoseconds, field: string, context: Context): Nanoseconds {
  const { made, seenAt } = context;
  const isSecondOf = (at: Nanoseconds) => at - stamp >= 0n && at - stamp < 1_000_000_000n;
  if (field === 'finishedAt')
    return within(stamp, endsOf(story, context).find(isSecondOf) ?? fromMs(seenAt) - exitToArrival);
  if (made === undefined) return freshStamp(stamp, seenAt);
  if (field === 'creationTimestamp') return within(stamp, made + eventToStore);
  return isSecondOf(made) ? made : freshStamp(stamp, seenAt);
}

const ms = 1_000_000n;
/** From a write in the cluster to its arrival at the recorder, as measured where both are known. */
const writeToArrival = 4n * ms;
/** From a container's end to the arrival of the status that shows it (SIGNALS.md §0, 6: 85 to 110 ms). */
const exitToArrival = 95n * ms;
/** From an Event's making to the API server's stamp on it. */
const eventToStore = 5n * ms;

/**
 * A stamp of whole seconds is the floor of a time nobody wrote down. These are guesses of that time, always inside the
 * stamp's second, so that it can be moved and cut again. `seenAt` is when the recorder first saw it, in milliseconds.
 */
function freshStamp(stamp: Nanoseconds, seenAt: number): Nanoseconds {
  const arrival = fromMs(seenAt);
  // Of an old stamp nothing is known but the second; its beginning never comes after what followed it.
  if (arrival - stamp > 2n * perSecond) return stamp;
  return within(stamp, arrival - writeToArrival);
}

/** When a DELETE was accepted whose deletionTimestamp and grace are these. */
function acceptance(deadline: Nanoseconds, graceSeconds: number, seenAt: number): Nanoseconds {
  const grace = BigInt(graceSeconds) * perSecond;
  const arrival = fromMs(seenAt) - writeToArrival;
  // A grace that was shortened into the past is stored as "now" and 1 s (SIGNALS.md §1, repeat delete).
  const isNow = arrival - deadline < perSecond && arrival >= deadline;
  return isNow ? within(deadline, arrival) : within(deadline - grace, arrival) + grace;
}

function within(second: Nanoseconds, guess: Nanoseconds): Nanoseconds {
  const last = second + perSecond - 1n;
  return guess < second ? second : guess > last ? last : guess;
}
