/** The lanes of the live picture: who has one, which stretches it shows, and what is said beside it. Pure. */
import type { EndpointExit } from '../trace/infer/endpoints.ts';
import type { ContainerExit } from '../trace/infer/container.ts';
import type { Estimate } from '../trace/infer/estimate.ts';
import type { Exit } from '../trace/timeline.ts';
import type { Trace } from '../trace/trace.ts';
import { countdown, killAt, stateInk, stateOf, stateWords, whole } from './container-state.ts';
import type { Zero } from './moments.ts';
import { decimalsOf, signed } from './moments.ts';
import type { Ink } from './palette.ts';

/** What a stretch is, each with a look of its own (bar.ts). */
export type StretchKind =
  /** Up, and nothing has been done to it yet. */
  | 'alive'
  | 'hook'
  | 'turn'
  | 'drain'
  /** Traffic is sent there. */
  | 'routed'
  | 'terminating'
  | 'cleanup'
  | 'ready';

/** Both edges in ms; between `lo` and `hi` an edge is uncertain. Without an end it goes on. */
export interface Stretch {
  readonly kind: StretchKind;
  readonly from: Edge;
  readonly to?: Edge;
}

export interface Edge {
  readonly lo: number;
  readonly hi: number;
}

export interface LaneView {
  readonly name: string;
  readonly stretches: readonly Stretch[];
  /** Ends, drawn over the stretches. */
  readonly points: readonly { readonly at: number; readonly symbol: 'mark' | 'kill'; readonly ink: Ink }[];
  readonly words: string;
  /** The same where there is no room for it. */
  readonly brief: string;
  readonly ink: Ink;
  /** What gives way first where the window is low: the highest. */
  readonly rank: number;
}

/** In the order of the picture: containers, endpoints, the object, the replacement. `now`: ms, client clock. */
export function lanesAt(trace: Trace, exit: Exit, zero: Zero, now: number): LaneView[] {
  return [
    ...exit.containers
      .filter(({ ran, spec }) => ran || spec.kind === 'container')
      .map((container) => containerLane(container, exit, zero, now)),
    ...serviceLanes(exit, zero),
    objectLane(trace, exit, zero, now),
    ...replacementLane(exit, zero),
  ];
}

function containerLane(container: ContainerExit, exit: Exit, zero: Zero, now: number): LaneView {
  const { spec, stopping, hook, signal, exit: end, ran } = container;
  const state = stateOf(container, exit, now);
  const began = stopping ?? exit.kubelet.noticed;
  const stop = end && edgeOf(end.at);
  const turn = spec.kind === 'sidecar' && began ? (hook?.end ?? began) : undefined;
  const words = stateWords(state, countdown(killAt(container, exit, now), now));
  return {
    name: spec.name,
    stretches: ran
      ? [
          stretch('alive', edgeAt(zero.at), began ? edgeOf(began) : stop),
          ...(hook && began
            ? [stretch('hook', edgeOf(began), state.kind === 'hook' ? undefined : edgeOf(hook.end))]
            : []),
          ...(turn ? [stretch('turn', edgeOf(turn), signal && state.kind !== 'turn' ? edgeOf(signal) : stop)] : []),
          ...(signal && state.kind !== 'hook' && state.kind !== 'turn' ? [stretch('drain', edgeOf(signal), stop)] : []),
        ]
      : [],
    points: end ? [{ at: middle(end.at), symbol: container.kill ? 'kill' : 'mark', ink: stateInk(state) }] : [],
    words: end ? `${words} ${timeText(end.at, zero)}` : words,
    brief: stateWords(state, undefined),
    ink: stateInk(state),
    rank: end || !ran ? 3 : 0,
  };
}

/** One for each Service, whatever number of slices it has; slices of none have their own. */
function serviceLanes({ endpoints }: Exit, zero: Zero): LaneView[] {
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
  const wasReady = slices.some((one) => one.wasReady);
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
    words: `${routeWords({ unrouted, removed, wasReady }, zero)}, ${others === 0 ? 'no' : others} other ready`,
    brief: routeWords({ unrouted, removed, wasReady }, zero),
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

function objectLane(trace: Trace, { deletion, removal }: Exit, zero: Zero, now: number): LaneView {
  const { done, finalDelete, finalizers, removed } = removal;
  const gone = removed && edgeOf(removed);
  return {
    name: 'object',
    stretches: [
      stretch('terminating', edgeOf(deletion.accepted), done ? edgeOf(done) : gone),
      ...(done ? [stretch('cleanup', edgeOf(done), gone)] : []),
    ],
    points: removed ? [{ at: middle(removed), symbol: 'mark', ink: 'strong' }] : [],
    words: objectWords(),
    brief: removed ? 'removed' : finalDelete && finalizers.length > 0 ? 'finalizers' : objectWords(),
    ink: 'plain',
    rank: trace.terminal ? 0 : 1,
  };

  function objectWords(): string {
    if (removed) return `removed ${timeText(removed, zero)}`;
    if (finalDelete && finalizers.length > 0) return `finalizers: ${finalizers.join(', ')}`;
    if (finalDelete) return 'final DELETE';
    if (done) return `clean-up, ${whole(now - done.client.hi)}`;
    return 'terminating';
  }
}

function replacementLane({ replacement }: Exit, zero: Zero): LaneView[] {
  if (!replacement) return [];
  const { created, ready, name } = replacement;
  const brief = ready ? `ready ${timeText(ready, zero)}` : `created ${timeText(created, zero)}`;
  return [
    {
      name: 'replacement',
      stretches: [
        stretch('alive', edgeOf(created), ready && edgeOf(ready)),
        ...(ready ? [stretch('ready', edgeOf(ready))] : []),
      ],
      points: [],
      words: `${brief}: ${name}`,
      brief,
      ink: ready ? 'good' : 'plain',
      rank: 4,
    },
  ];
}

const stretch = (kind: StretchKind, from: Edge, to?: Edge): Stretch => ({ kind, from, ...(to ? { to } : {}) });

/** What was seen stands where it arrived, as in the lines; what is inferred keeps its width. */
function edgeOf({ client, basis }: Estimate): Edge {
  if (basis === 'observed' || !Number.isFinite(client.lo)) return edgeAt(client.hi);
  return { lo: client.lo, hi: client.hi };
}

const edgeAt = (time: number): Edge => ({ lo: time, hi: time });

function middle(estimate: Estimate): number {
  const { lo, hi } = edgeOf(estimate);
  return (lo + hi) / 2;
}

/** `+0.02`, `~+3.1`. */
function timeText(estimate: Estimate, zero: Zero): string {
  const { basis } = estimate;
  const moment = { ...edgeOf(estimate), basis };
  return `${basis === 'inferred' ? '~' : ''}${signed((middle(estimate) - zero.at) / 1000, Math.min(2, decimalsOf(moment)))}`;
}
