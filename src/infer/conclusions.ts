/**
 * The view model: everything that can be concluded from a trace, once, for all renderers and rules. Pure, and cheap
 * enough to be asked after each observation.
 */
import type { Clock } from '../model/clock.ts';
import { offsetAt, unknownClock } from '../model/clock.ts';
import { withDates } from '../model/dates.ts';
import type { Pod } from '../model/kube.ts';
import type { ContainerExit } from './container.ts';
import type { Deletion } from './deletion.ts';
import { deletionOf } from './deletion.ts';
import type { EndpointExit } from './endpoints.ts';
import { endpointsOf } from './endpoints.ts';
import type { Estimate } from './estimate.ts';
import { exitsOf } from './exits.ts';
import { podNetworkOf } from './pod-network.ts';
import type { Kubelet } from './kubelet.ts';
import type { Removal } from './removal.ts';
import { removalOf } from './removal.ts';
import type { Replacement } from './replacement.ts';
import { replacementOf } from './replacement.ts';
import { timelineFrom } from './timeline-from.ts';
import type { Timeline } from './timeline.ts';
import type { Trigger } from './trigger-rule.ts';
import { triggerOf } from './trigger.ts';
import type { MarkName, PhaseName } from '../model/report.ts';
import type { Span } from '../model/span.ts';
import type { Trace } from '../model/trace.ts';
import { marksOf } from './view/marks.ts';
import { phasesOf } from './view/phases.ts';
import { unseenMarks } from './view/unseen.ts';

/** The conclusions about a deletion, before they become marks and phases. */
export interface Exit {
  readonly deletion: Deletion;
  readonly kubelet: Kubelet;
  readonly containers: readonly ContainerExit[];
  readonly endpoints: readonly EndpointExit[];
  readonly removal: Removal;
  readonly replacement?: Replacement;
  readonly trigger: Trigger;
}

/** A mark as the timeline knows it. `id` is stable; `provisional`: it may yet be corrected or withdrawn. */
export interface TimelineMark {
  readonly id: string;
  readonly name: MarkName;
  readonly subject?: string;
  readonly at: Estimate;
  readonly note?: string;
  readonly provisional: boolean;
}

export interface TimelinePhase {
  readonly name: PhaseName;
  readonly subject?: string;
  readonly start: Estimate;
  readonly end: Estimate;
  /** Milliseconds. */
  readonly lasted: Span;
}

export interface Conclusions {
  readonly pod: Pod;
  /** Absent while nobody was seen to delete the pod. */
  readonly exit?: Exit;
  readonly marks: readonly TimelineMark[];
  readonly phases: readonly TimelinePhase[];
  /** Offsets (remote − client, ms) of the clocks that anything is known of. */
  readonly offsets: { readonly api?: Span; readonly node?: Span };
}

/** Undefined while not even the pod has been seen. */
export function conclusionsOf(trace: Trace): Conclusions | undefined {
  const pod = trace.pod?.value;
  if (!pod) return undefined;
  const exit = exitOf(trace);
  if (!exit)
    return {
      pod,
      marks: unseenMarks(trace),
      phases: [],
      offsets: offsets(trace, withDates(trace.clocks.api, trace.clocks.dates), trace.clocks.node),
    };
  return {
    pod: exit.deletion.facts.first.value,
    exit,
    marks: marksOf(trace, exit),
    phases: phasesOf(trace, exit),
    offsets: offsets(trace, exit.deletion.api, exit.kubelet.clock),
  };
}

/** The same as numbers; undefined while not even the pod has been seen. */
export function timelineOf(trace: Trace): Timeline | undefined {
  const conclusions = conclusionsOf(trace);
  return conclusions && timelineFrom(trace, conclusions);
}

function exitOf(trace: Trace): Exit | undefined {
  const deletion = deletionOf(trace);
  if (!deletion) return undefined;
  const scene = podNetworkOf(trace, deletion);
  const { kubelet } = scene;
  const containers = exitsOf(scene);
  const trigger = triggerOf(trace, deletion);
  const replacement = replacementOf(trace, { deletion, kubelet }, trigger.kind);
  return {
    deletion,
    kubelet,
    containers,
    endpoints: endpointsOf(trace, deletion, containers),
    removal: removalOf(trace, deletion, containers),
    ...(replacement ? { replacement } : {}),
    trigger,
  };
}

function offsets(trace: Trace, api: Clock = unknownClock, node: Clock = unknownClock): Conclusions['offsets'] {
  const known = (clock: Clock) => clock.lower.length + clock.upper.length > 0;
  return {
    ...(known(api) ? { api: offsetAt(api, trace.now) } : {}),
    ...(known(node) ? { node: offsetAt(node, trace.now) } : {}),
  };
}
