/** The lanes of the traffic: until when each Service sent it here, and who was left to take it. */
import type { EndpointExit } from '../infer/endpoints.ts';
import type { Estimate } from '../infer/estimate.ts';
import type { Exit } from '../infer/conclusions.ts';
import type { LaneView } from './lane-views.ts';
import type { Zero } from './moments.ts';
import { edgeAt, edgeOf, middle, stretch, timeText } from './stretches.ts';

/** One for each Service, whatever number of slices it has; slices of none have their own. */
export function serviceLanes({ endpoints }: Exit, zero: Zero): LaneView[] {
  const groups = new Map<string, EndpointExit[]>();
  for (const one of endpoints) {
    const key = one.service ?? one.slice;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups].map(([service, slices]) => serviceLane(service, slices, zero));
}

function serviceLane(service: string, slices: readonly EndpointExit[], zero: Zero): LaneView {
  const unrouted = lastOf(slices.map((one) => one.unrouted));
  const removed = lastOf(slices.map((one) => one.removed));
  const others = Math.min(...slices.map(({ otherReady }) => otherReady));
  const left = others === 0 ? 'no' : others;
  const wasReady = slices.some((one) => one.wasReady);
  const route = routeWords({ unrouted, removed, wasReady }, zero);
  const start = edgeAt(zero.at);
  return {
    name: `svc/${service}`,
    stretches: [
      ...(wasReady ? [stretch('routed', start, unrouted ? edgeOf(unrouted) : removed && edgeOf(removed))] : []),
      ...(unrouted || !wasReady
        ? [stretch('terminating', unrouted ? edgeOf(unrouted) : start, removed && edgeOf(removed))]
        : []),
    ],
    points: removed ? [{ at: middle(removed), symbol: 'mark', ink: 'dim' }] : [],
    words: [`${route}, ${left} other ready`, `${route}, ${left} other`, route],
    ink: unrouted && others === 0 ? 'warning' : 'plain',
    rank: 2,
  };
}

function routeWords(
  { unrouted, removed, wasReady }: { unrouted: Estimate | undefined; removed: Estimate | undefined; wasReady: boolean },
  zero: Zero,
): string {
  if (unrouted) return `unrouted ${timeText(unrouted, zero)}`;
  if (removed) return `removed ${timeText(removed, zero)}`;
  return wasReady ? 'still routed' : 'not routed';
}

/** Known only once all slices have it. */
function lastOf(estimates: readonly (Estimate | undefined)[]): Estimate | undefined {
  const known = estimates.filter((one) => one !== undefined);
  return known.length < estimates.length ? undefined : known.sort((a, b) => a.client.hi - b.client.hi).at(-1);
}
