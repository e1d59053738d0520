/** Everything that can be concluded from a trace. Pure, and cheap enough to be asked after each observation. */
import { offsetAt, withDates } from '../model/clock.ts';
import type { Conclusions, Exit } from './conclusions.ts';
import { deletionOf } from './deletion.ts';
import { endpointsOf } from './endpoints.ts';
import { exitsOf } from './exits.ts';
import { podNetworkOf } from './pod-network.ts';
import { removalOf } from './removal.ts';
import { replacementOf } from './replacement.ts';
import { timelineFrom } from './timeline-from.ts';
import type { Timeline } from './timeline.ts';
import { triggerOf } from './trigger.ts';
import type { Trace } from '../model/trace.ts';
import { marksOf } from './view/marks.ts';
import { phasesOf } from './view/phases.ts';
import { unseenMarks } from './view/unseen.ts';

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
      offsets: {
        api: offsetAt(withDates(trace.clocks.api, trace.clocks.dates), trace.now),
        node: offsetAt(trace.clocks.node, trace.now),
      },
    };
  return {
    pod: exit.deletion.facts.first.value,
    exit,
    marks: marksOf(trace, exit),
    phases: phasesOf(trace, exit),
    offsets: { api: exit.stage.offset('api', trace.now), node: exit.stage.offset('node', trace.now) },
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
  const context = podNetworkOf(trace, deletion);
  const { kubelet, stage } = context;
  const containers = exitsOf(context);
  const trigger = triggerOf(trace, deletion);
  const replacement = replacementOf(context, trigger.kind);
  return {
    deletion,
    kubelet,
    stage,
    containers,
    endpoints: endpointsOf(context, containers),
    removal: removalOf(context, containers),
    ...(replacement ? { replacement } : {}),
    trigger,
  };
}
