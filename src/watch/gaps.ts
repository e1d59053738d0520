/** Stretches in which a stream was lost for good: what happened then is not known. */
import type { Observation } from '../model/observation.ts';
import type { Clock } from '../output/ports.ts';
import type { WatchGap } from './lines.ts';

/** ms by which gaps of several streams may differ and are told as one: an API server's restart begins and ends all of them. */
const togetherMs = 2000;

const names: Readonly<Record<string, string>> = {
  pods: 'pods',
  events: 'Events',
  endpointslices: 'EndpointSlices',
  services: 'Services',
  owner: 'workloads',
  node: 'nodes',
};

export function createGaps(clock: Clock, onGap: (gap: WatchGap) => void) {
  let waiting: WatchGap[] = [];
  let cancel = (): void => {};
  const flush = (): void => {
    cancel();
    waiting.splice(0).forEach(onGap);
  };
  return {
    take(o: Observation): void {
      // Those of one pod are in its report. At the end, another stream may only not have confirmed that it has sent all.
      if (o.kind !== 'gap' || o.pod !== undefined || (o.to === undefined && o.stream !== 'pods')) return;
      const name = names[o.stream.replace(/^.*-/, '')];
      if (name === undefined) return;
      // A stream that is still lost when the watch ends has missed what happened until then.
      const { from, to = o.at } = o;
      const isNear = (gap: WatchGap): boolean =>
        Math.max(Math.abs(gap.from - from), Math.abs(gap.to - to)) <= togetherMs;
      const known = waiting.find(isNear) ?? { streams: [], from, to };
      const streams = [...new Set([...known.streams, name])];
      const joined = { streams, from: Math.min(known.from, from), to: Math.max(known.to, to) };
      waiting = [...waiting.filter((gap) => gap !== known), joined];
      cancel();
      cancel = clock.setTimeout(flush, togetherMs);
    },
    flush,
  };
}
