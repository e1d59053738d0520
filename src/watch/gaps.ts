/** Stretches in which a stream was lost for good: what happened then is not known. */
import type { Observation } from '../model/observation.ts';
import type { Clock } from '../output/ports.ts';
import type { WatchGap } from './lines.ts';

/** ms in which the gaps of several streams belong together: an API server's restart ends all of them. */
const togetherMs = 2000;

/** Names of the streams for people. */
const names: Readonly<Record<string, string>> = {
  pods: 'pods',
  events: 'Events',
  'owner-events': 'Events',
  'node-events': 'Events',
  endpointslices: 'EndpointSlices',
  services: 'Services',
  owner: 'workloads',
  node: 'nodes',
};

export function createGaps(clock: Clock, onGap: (gap: WatchGap) => void) {
  let waiting: WatchGap | undefined;
  let cancel = (): void => {};
  const flush = (): void => {
    cancel();
    const gap = waiting;
    waiting = undefined;
    if (gap) onGap(gap);
  };
  return {
    take(o: Observation): void {
      // Those of one pod are in its report. At the end, another stream may only not have confirmed that it has sent all.
      if (o.kind !== 'gap' || o.pod !== undefined || (o.to === undefined && o.stream !== 'pods')) return;
      const name = names[o.stream];
      if (name === undefined) return;
      // A stream that is still lost when the watch ends has missed what happened until then.
      const { from, to = o.at } = o;
      const known = waiting ?? { streams: [], from, to };
      waiting = {
        streams: [...new Set([...known.streams, name])],
        from: Math.min(known.from, from),
        to: Math.max(known.to, to),
      };
      cancel();
      cancel = clock.setTimeout(flush, togetherMs);
    },
    /** Passes on what is still waiting. */
    flush,
  };
}
