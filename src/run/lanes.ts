/** How the streams of a run are doing, so that it ends neither before they have told all nor long after. */
import { setMaxListeners } from 'node:events';
import type { Health } from '../kube/health.ts';
import type { StreamName } from '../model/observation.ts';

export interface Lanes {
  /** `at` (client ms): what came earlier is nothing that it has to tell. `hears` is called as it dies and lives again, `waitingFor` as its state is not given. */
  open(
    stream: StreamName,
    at: number,
    more?: {
      hears?: ((isSo: boolean) => void) | undefined;
      waitingFor?: ((reason: string) => void) | undefined;
      isNeeded?: boolean;
    },
  ): Health;
  /** The stream is over for good: refused, or given up. */
  close(health: Health): void;
  /** Asks every stream whether it has told all there is, until it answers. */
  doubt(): void;
  /** Takes a stream as lost that has not been sure of anything since `silentSince` (client ms): nobody else could tell either. */
  lose(stream: StreamName, silentSince: number): void;
  /** The streams that are not over; of several lanes of one stream each. */
  streams(): StreamName[];
  /** Streams without a connection or an answer now, and since when (client ms). */
  lost(): { stream: StreamName; since: number }[];
  /** Whether one is lost, or has come back and owes what it missed: that takes longer than an answer. */
  isComingBack(): boolean;
  /**
   * Streams that may have kept something back, and since when (client ms): the lost ones, and of those that a report leans on
   * most the ones that were asked whether they told all, and have not said so.
   */
  unsure(): { stream: StreamName; since: number }[];
  /** Whether all that a report leans on most has been told, and none is without a connection. */
  areWhole(): boolean;
}

/** The streams that outcome, containers and most findings rest on; the end of a run waits for no other. */
export const needed: ReadonlySet<StreamName> = new Set(['pod', 'events', 'endpointslices']);

interface Lane {
  stream: StreamName;
  isNeeded: boolean;
  sureAt: number;
  lostSince: number | undefined;
  /** Lost at some time since it was last whole. */
  wasLost: boolean;
  whole: boolean;
}

/** `changed` is called whenever a stream is whole or flows again. */
export function createLanes(changed: () => void): Lanes {
  const lanes = new Map<Health, Lane>();
  const doubt = new AbortController();
  setMaxListeners(0, doubt.signal);
  return {
    open(stream, at, { hears, waitingFor, isNeeded = needed.has(stream) } = {}) {
      const lane: Lane = { stream, isNeeded, sureAt: at, lostSince: undefined, wasLost: false, whole: false };
      const health: Health = {
        doubted: doubt.signal,
        waitingFor,
        lost: (since) => {
          // What was taken for its last word may turn out to have been behind.
          lane.lostSince = Math.min(lane.lostSince ?? Infinity, since);
          lane.wasLost = true;
          hears?.(false);
        },
        flows: () => {
          lane.lostSince = undefined;
          hears?.(true);
          changed();
        },
        sure: (at) => void (lane.sureAt = at),
        whole: () => {
          lane.whole = true;
          lane.wasLost = false;
          changed();
        },
      };
      lanes.set(health, lane);
      return health;
    },
    close: (health) => void (lanes.delete(health) && changed()),
    doubt: () => doubt.abort(),
    lose: (stream, silentSince) =>
      lanes.forEach((lane) => {
        if (lane.stream === stream && lane.sureAt < silentSince) lane.lostSince ??= lane.sureAt;
      }),
    streams: () => [...lanes.values()].map(({ stream }) => stream),
    lost: () =>
      [...lanes.values()].flatMap(({ stream, lostSince }) =>
        lostSince === undefined ? [] : [{ stream, since: lostSince }],
      ),
    isComingBack: () =>
      [...lanes.values()].some((lane) => lane.lostSince !== undefined || (lane.isNeeded && lane.wasLost)),
    unsure: () =>
      [...lanes.values()].flatMap((lane) => {
        const owesAnswer = doubt.signal.aborted && lane.isNeeded && !lane.whole;
        const since = lane.lostSince ?? (owesAnswer ? lane.sureAt : undefined);
        return since === undefined ? [] : [{ stream: lane.stream, since }];
      }),
    areWhole: () => [...lanes.values()].every((lane) => !lane.isNeeded || (lane.whole && lane.lostSince === undefined)),
  };
}
