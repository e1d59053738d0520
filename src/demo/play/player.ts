import { fromMs, formatStamp, parseStamp, type DemoClock, type Nanoseconds, nsPerMs, nsPerSecond } from '../clock.ts';
import type { PreparedScenario, RecordedStep, WrittenLine } from './prepare.ts';
import type { Truth } from '../scenarios.ts';
import { isRecord, type KubeObject } from '../data/kube-object.ts';

/** Decides when each recorded step happens in this run; the `play` callback then makes it happen. */
export class Player {
  readonly moments: Moments;
  /** Resolves when the pod's end begins. */
  readonly begun: Promise<void>;
  /** Resolves when every step has been played. */
  readonly played: Promise<void>;
  #next = 0;
  #cancel = (): void => {};
  #cancelAttach: (() => void) | undefined;
  #begin = (): void => {};
  #finish = (): void => {};

  /** `attachDelayMs`: how long after the first watch of pods the pod's end begins, if no client's DELETE triggers it. */
  constructor(
    private readonly scenario: PreparedScenario,
    private readonly clock: DemoClock,
    private readonly attachDelayMs: number,
    private readonly play: (step: RecordedStep) => void,
  ) {
    this.moments = { startedAt: clock.now(), origin: scenario.trigger.at };
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    this.played = new Promise((resolve) => (this.#finish = resolve));
  }

  /** To call when a client opens a watch: what was recorded before the trigger starts to play. */
  watched(resource: string): void {
    if (this.moments.watchedAt === undefined) {
      this.moments.watchedAt = this.clock.now();
      this.catchUp();
    }
    if (this.scenario.trigger.kind === 'other' && resource === 'pods' && this.moments.begunAt === undefined)
      this.#cancelAttach ??= this.clock.setTimeout(() => this.begin(), this.attachDelayMs);
  }

  /** Starts the pod's end now, at the recorded time `origin` (default: the trigger's). Later calls change nothing. */
  begin(origin = this.scenario.trigger.at): void {
    if (this.moments.begunAt !== undefined) return;
    this.#cancelAttach?.();
    this.moments.begunAt = this.clock.now();
    this.moments.origin = origin;
    this.catchUp();
    this.#begin();
  }

  /** Milliseconds from now until a recorded time; 0 if it has passed. */
  untilRecorded(at: number): number {
    return Math.max(0, Number(toRunTime(this.scenario, this.moments, fromMs(at)) / 1_000n) / 1_000 - this.clock.now());
  }

  /** Plays all steps that are due, then waits for the next one. */
  catchUp(): void {
    this.#cancel();
    const { steps, trigger } = this.scenario;
    const hasBegun = this.moments.begunAt !== undefined;
    for (let step = steps[this.#next]; step && (hasBegun || step.at < trigger.at); step = steps[this.#next]) {
      // Steps before the origin must have happened when a client's request takes effect.
      const wait = hasBegun && step.at < this.moments.origin ? 0 : this.untilRecorded(step.at);
      if (wait > 0) {
        this.#cancel = this.clock.setTimeout(() => this.catchUp(), wait);
        return;
      }
      this.#next += 1;
      this.play(step);
    }
    if (hasBegun && this.#next === steps.length) this.#finish();
  }

  stop(): void {
    this.#cancel();
    this.#cancelAttach?.();
  }
}

/** When the turning points of the recording come in this run, in milliseconds of the server's clock. */
export interface Moments {
  /** The server began to listen. */
  startedAt: number;
  /** A client opened its first watch. */
  watchedAt?: number;
  /** The recorded time from which the end is played: the trigger's, unless a client starts at a later time. */
  origin: number;
  /** A client's DELETE arrived, or the pod's end began on its own. */
  begunAt?: number;
}

/**
 * Converts a recorded time to this run. Times before `ready` count from the server's start, times up to the trigger
 * from the first watch, later ones from the DELETE's arrival. The order of recorded times is kept.
 */
function toRunTime({ readyAt }: PreparedScenario, moments: Moments, recorded: Nanoseconds): Nanoseconds {
  const ready = fromMs(readyAt);
  const origin = fromMs(moments.origin);
  const begun = moments.begunAt === undefined ? undefined : fromMs(moments.begunAt);
  if (recorded <= ready) return recorded + fromMs(moments.startedAt) - ready;
  if (recorded >= origin && begun !== undefined) return recorded + begun - origin;
  const moved = recorded + fromMs(moments.watchedAt ?? moments.startedAt) - ready;
  return begun !== undefined && moved > begun ? begun : moved;
}

const truthTimes = ['stop_requested', 'stop_signal_sent', 'sigkill_sent', 'exited'] as const;

/** What really happened to the containers, with times of this run on the client's clock. */
export function truthsInRunTime(scenario: PreparedScenario, moments: Moments): Truth[] {
  return scenario.truths.map((truth) => {
    const moved = { ...truth };
    for (const name of truthTimes) {
      const stamp = parseStamp(truth[name] ?? '');
      if (stamp) moved[name] = formatStamp(toRunTime(scenario, moments, stamp.at), 9);
    }
    return moved;
  });
}

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
  /** Timestamps of this run, by object, container, field and recorded timestamp. */
  const known = new Map<string, string>();
  const time = (at: Nanoseconds): Nanoseconds => toRunTime(scenario, moments, at);

  /** `graceSeconds`: of the record that has the field. */
  function moveText(text: string, field: string, graceSeconds: unknown, context: Context): string {
    const stamp = parseStamp(text);
    if (stamp === undefined) return text;
    const isDeadline = field === 'deletionTimestamp' && typeof graceSeconds === 'number';
    const grace = isDeadline ? BigInt(graceSeconds) * nsPerSecond : 0n;
    const key = [context.uid, context.container, field, grace, text].join(' ');
    const before = known.get(key);
    if (before !== undefined) return before;
    const at = stamp.digits > 0 ? stamp.at : guess(scenario, stamp.at, field, grace, context);
    const moved = formatStamp(time(at - grace) + grace, stamp.digits);
    known.set(key, moved);
    return moved;
  }

  /** Changes the value in place. */
  function moveWithin(value: unknown, outer: Context): void {
    if (Array.isArray(value)) return value.forEach((one) => moveWithin(one, outer));
    if (!isRecord(value)) return;
    const context = containerWithin(value, outer);
    for (const [field, inner] of Object.entries(value))
      if (typeof inner === 'string') value[field] = moveText(inner, field, value.deletionGracePeriodSeconds, context);
      else moveWithin(inner, context);
  }

  return {
    line: ({ stamp, text }: WrittenLine): WrittenLine => ({ stamp: time(stamp), text }),
    /** The object with every time in it moved to this run; `seenAt` is the recorded arrival, in milliseconds. */
    object(recorded: KubeObject, seenAt: number): KubeObject {
      const context = contextOf(recorded, seenAt);
      const moved = structuredClone(recorded);
      moveWithin(moved, context);
      const { name } = recorded.metadata;
      if (context.nameTime !== undefined)
        moved.metadata.name = `${name.slice(0, name.lastIndexOf('.'))}.${time(context.nameTime).toString(16)}`;
      return moved;
    },
  };
}

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
  const lines = steps.flatMap((step) => (step.kind === 'log' && isOwn(step) ? (step.line?.stamp ?? []) : []));
  return [...exits.map((stamp) => stamp.at), ...lines.reverse()];
}

/** The time behind a timestamp that was cut to whole seconds. `grace`: what a deletionTimestamp contains of it. */
function guess(
  scenario: PreparedScenario,
  stamp: Nanoseconds,
  field: string,
  grace: Nanoseconds,
  context: Context,
): Nanoseconds {
  const { nameTime, seenAt } = context;
  const isSecondOf = (at: Nanoseconds) => at - stamp >= 0n && at - stamp < nsPerSecond;
  if (field === 'deletionTimestamp') return uncutDeadline(stamp, grace, seenAt);
  // From a container's exit to the arrival of the status that shows it: 85 to 110 ms (SIGNALS.md §0, 6).
  if (field === 'finishedAt') return within(stamp, endsOf(scenario, context).find(isSecondOf) ?? fromMs(seenAt - 95));
  if (nameTime === undefined) return guessFromArrival(stamp, seenAt);
  // From the time in an Event's name to the API server's creationTimestamp.
  if (field === 'creationTimestamp') return within(stamp, nameTime + 5n * nsPerMs);
  return isSecondOf(nameTime) ? nameTime : guessFromArrival(stamp, seenAt);
}

/** From a write in the cluster to its arrival at the recorder; measured in recordings that show both. */
const writeToArrivalNs = 4n * nsPerMs;

/** The guess stays within its second, so that it can be moved and cut again. `seenAt`: ms, when it was recorded first. */
function guessFromArrival(stamp: Nanoseconds, seenAt: number): Nanoseconds {
  const arrival = fromMs(seenAt);
  // Of an old timestamp only the second is known. Its start is certainly not after what followed.
  if (arrival - stamp > 2n * nsPerSecond) return stamp;
  return within(stamp, arrival - writeToArrivalNs);
}

/** The deletionTimestamp before it was cut to whole seconds: when the DELETE was accepted, plus the grace period. */
function uncutDeadline(deadline: Nanoseconds, grace: Nanoseconds, seenAt: number): Nanoseconds {
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
