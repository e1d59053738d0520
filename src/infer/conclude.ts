/** Everything that can be concluded from a trace. Pure, and fast enough to run after each observation. */
import type { Observation } from '../model/observation.ts';
import { containersOf } from '../model/pod.ts';
import { laterOf } from '../model/span.ts';
import type { Trace } from '../model/trace.ts';
import { containerExit } from './container-rules.ts';
import { reportedExit, type ContainerExit, type DeletionContext, type InferContext, type PodExit } from './context.ts';
import { deletionOf } from './deletion.ts';
import { endpointsOf } from './endpoints.ts';
import { cite, onBothClocks, unbounded, type Estimate } from './estimate.ts';
import { contextOf } from './pod-constraints.ts';
import { moment } from './pod-network.ts';
import { replacementHold, replacementOf } from './replacement.ts';
import { timelineFrom } from './timeline-from.ts';
import type { Timeline } from './timeline.ts';
import { triggerOf } from './trigger.ts';

/** Undefined until the pod is seen. `context`: what verdicts need beside the timeline; undefined if no deletion was seen. */
export function conclude(trace: Trace): { timeline: Timeline; context: DeletionContext | undefined } | undefined {
  if (!trace.pod) return undefined;
  const exit = podExitOf(trace);
  return { timeline: timelineFrom(trace, exit, exit?.deletion.pod ?? trace.pod.value), context: exit };
}

export const timelineOf = (trace: Trace): Timeline | undefined => conclude(trace)?.timeline;

function podExitOf(trace: Trace): PodExit | undefined {
  const deletion = deletionOf(trace);
  if (!deletion) return undefined;
  const context = contextOf(trace, deletion);
  const containers = containersIn(context);
  const trigger = triggerOf(trace, deletion);
  const replacement = replacementOf(context, trigger.kind);
  return {
    ...context,
    containers,
    endpoints: endpointsOf(context, containers),
    replacement,
    replacementHold: replacementHold(trace, replacement),
    trigger,
  };
}

/** Main containers stop together, sidecars after them in reverse order (SIGNALS.md §2 S7). In report order. */
function containersIn(context: InferContext): ContainerExit[] {
  const specs = containersOf(context.deletion.pod);
  const nonSidecars = specs.filter(({ kind }) => kind !== 'sidecar').map((spec) => containerExit(context, spec));
  const mains = nonSidecars.filter(({ spec }) => spec.kind === 'container');
  const stopped = [...mains];
  for (const spec of specs.filter(({ kind }) => kind === 'sidecar').reverse())
    stopped.push(containerExit(context, spec, turnAfter(context, stopped)));
  // A sidecar's exit does not prove that its turn had come: it may have died of another signal.
  const all = new Set([...nonSidecars, ...stopped]);
  return order.flatMap((kind) => [...all].filter(({ spec }) => spec.kind === kind));
}

const order = ['container', 'sidecar', 'init', 'ephemeral'] as const;

/** The turn of a sidecar: after these containers, as far as they ran. */
const turnAfter = (context: InferContext, containers: readonly ContainerExit[]): Estimate | undefined =>
  containers
    .flatMap((container) => (container.ran ? doneWith(context, container) : []))
    .reduce<Estimate | undefined>((latest, end) => (latest ? later(latest, end) : end), undefined);

/** After its exit and its hook; at any time if the exit is not known. An assumed kill dates no other's turn. */
function doneWith({ network }: InferContext, container: ContainerExit): Estimate {
  const { spec, hook, assumes } = container;
  const exit = reportedExit(container);
  if (!exit) return unbounded;
  const at = assumes.includes('silent-kill') ? network.read(moment('exit', spec.name)) : exit;
  if (!hook) return at;
  const end = later(at, hook.end);
  if (!hook.mayNotHaveRun) return end;
  return { ...end, ...onBothClocks((clock) => ({ lo: at[clock].lo, hi: end[clock].hi })) };
}

const later = (a: Estimate, b: Estimate): Estimate => ({
  ...onBothClocks((clock) => laterOf(a[clock], b[clock])),
  basis: 'inferred',
  evidence: cite(a.evidence, b.evidence),
});

/** Whether to conclude again after an observation: of log lines that name no signal, three count in 100 ms. */
export function createChatterLimit(): (trace: Trace, observation: Observation) => boolean {
  let recent: readonly number[] = [];
  return ({ now }, observation) => {
    const isPlain = observation.kind === 'line' && !observation.namesSignal;
    if (isPlain && recent.length === 3 && now - (recent[0] ?? -Infinity) < 100) return false;
    if (isPlain) recent = [...recent, now].slice(-3);
    return true;
  };
}
