/** The lanes of the live picture: who has one, which stretches it shows, and what is said beside it. Pure. */
import type { ContainerExit } from '../infer/container.ts';
import type { Replacement } from '../infer/replacement.ts';
import type { Exit } from '../infer/conclusions.ts';
import type { Trace } from '../model/trace.ts';
import { countdown, killAt, laneWords, stateInk, stateOf, whole } from './container-state.ts';
import type { Zero } from './moments.ts';
import type { Ink } from './palette.ts';
import { serviceLanes } from './service-lanes.ts';
import type { Stretch } from './stretches.ts';
import { edgeAt, edgeOf, middle, stretch, timeText } from './stretches.ts';

export interface LaneView {
  readonly name: string;
  readonly stretches: readonly Stretch[];
  /** Ends, drawn over the stretches. */
  readonly points: readonly { readonly at: number; readonly symbol: 'mark' | 'kill'; readonly ink: Ink }[];
  /** What is said of it, fuller first: the first that its column has room for is shown. */
  readonly words: readonly string[];
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
    words: end
      ? laneWords(state, undefined).map((words) => `${words} ${timeText(end.at, zero)}`)
      : laneWords(state, countdown(killAt(container, exit, now), now)),
    ink: stateInk(state),
    rank: end || !ran ? 3 : 0,
  };
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
    words: removed || !finalDelete || finalizers.length === 0 ? [objectWords()] : [objectWords(), 'finalizers'],
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
  const step = newestStep(replacement, zero);
  return [
    {
      name: 'replacement',
      stretches: [
        stretch('alive', edgeOf(created), ready && edgeOf(ready)),
        ...(ready ? [stretch('ready', edgeOf(ready))] : []),
      ],
      points: [],
      words: [`${step}: ${name}`, step],
      ink: ready ? 'good' : 'plain',
      rank: 4,
    },
  ];
}

/** How far it has come, and when. */
function newestStep({ created, scheduled, started, ready }: Replacement, zero: Zero): string {
  if (ready) return `ready ${timeText(ready, zero)}`;
  if (started) return `started ${timeText(started, zero)}`;
  return scheduled ? `scheduled ${timeText(scheduled, zero)}` : `created ${timeText(created, zero)}`;
}
