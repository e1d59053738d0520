/** How the streams of a run are doing, so that it ends neither before they have told all nor long after. */
import { setMaxListeners } from 'node:events';
import type { Health } from '../cluster/health.ts';
import type { StreamName } from '../trace/observation.ts';

export interface Lanes {
  open(stream: StreamName): Health;
  /** The stream is over for good: refused, or given up. */
  close(health: Health): void;
  /** Asks every stream, once, whether it has told all there is. */
  doubt(): void;
  /** The streams that are not over; of several lanes of one stream each. */
  streams(): StreamName[];
  /** Streams without a connection now, and since when (client ms). */
  lost(): { stream: StreamName; since: number }[];
  /** Whether all that a report leans on most has been told, and none is without a connection. */
  areWhole(): boolean;
}

/** The streams that outcome, containers and most findings rest on; the end of a run waits for no other. */
const needed: ReadonlySet<StreamName> = new Set(['pod', 'events', 'endpointslices']);

interface Lane {
  stream: StreamName;
  lostSince: number | undefined;
  whole: boolean;
}

/** `changed` is called whenever a stream is whole or flows again. */
export function createLanes(changed: () => void): Lanes {
  const lanes = new Map<Health, Lane>();
  const doubt = new AbortController();
  setMaxListeners(0, doubt.signal);
  return {
    open(stream) {
      const lane: Lane = { stream, lostSince: undefined, whole: false };
      const health: Health = {
        doubted: doubt.signal,
        lost: (since) => void (lane.lostSince ??= since),
        flows: () => {
          lane.lostSince = undefined;
          changed();
        },
        whole: () => {
          lane.whole = true;
          changed();
        },
      };
      lanes.set(health, lane);
      return health;
    },
    close: (health) => void (lanes.delete(health) && changed()),
    doubt: () => doubt.abort(),
    streams: () => [...lanes.values()].map(({ stream }) => stream),
    lost: () =>
      [...lanes.values()].flatMap(({ stream, lostSince }) =>
        lostSince === undefined ? [] : [{ stream, since: lostSince }],
      ),
    areWhole: () =>
      [...lanes.values()].every((lane) => !needed.has(lane.stream) || (lane.whole && lane.lostSince === undefined)),
  };
}
