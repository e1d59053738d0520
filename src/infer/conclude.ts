/** Everything that can be concluded from a trace. Pure, and cheap enough to be asked after each observation. */
import type { Observation } from '../model/observation.ts';
import { containersOf } from '../model/pod.ts';
import { laterOf } from '../model/span.ts';
import type { Trace } from '../model/trace.ts';
import { willStart } from './before-deletion.ts';
import { containerExit } from './container-rules.ts';
import type { ContainerExit, InferContext, PodExit } from './context.ts';
import { deletionOf } from './deletion.ts';
import { endpointsOf } from './endpoints.ts';
import { cite, notBefore, onBothClocks, unbounded, type Estimate } from './estimate.ts';
import { moment } from './pod-network.ts';
import { contextOf } from './pod-rows.ts';
import { removalOf } from './removal.ts';
import { replacementOf } from './replacement.ts';
import { timelineFrom } from './timeline-from.ts';
import type { Timeline } from './timeline.ts';
import { triggerOf } from './trigger.ts';

/** `exit`: what the timeline was made from; absent where nobody was seen to delete the pod. */
export interface Concluded {
  readonly timeline: Timeline;
  readonly exit: PodExit | undefined;
}

/** Undefined while not even the pod has been seen. */
export function conclude(trace: Trace): Concluded | undefined {
  if (!trace.pod) return undefined;
  const exit = podExitOf(trace);
  return { timeline: timelineFrom(trace, exit, exit?.deletion.facts.first.value ?? trace.pod.value), exit };
}

export const timelineOf = (trace: Trace): Timeline | undefined => conclude(trace)?.timeline;

function podExitOf(trace: Trace): PodExit | undefined {
  const deletion = deletionOf(trace);
  if (!deletion) return undefined;
  const context = contextOf(trace, deletion);
  const containers = containersIn(context);
  const trigger = triggerOf(trace, deletion);
  return {
    ...context,
    containers,
    endpoints: endpointsOf(context, containers),
    removal: removalOf(context, containers),
    replacement: replacementOf(context, trigger.kind),
    trigger,
  };
}

/**
 * Main containers stop together, sidecars after them in reverse order (SIGNALS.md §2 S7). In the order of the spec, which is the
 * report's: main containers first, then sidecars, init and ephemeral ones.
 */
function containersIn(context: InferContext): ContainerExit[] {
  const specs = containersOf(context.deletion.facts.first.value);
  const others = specs.filter(({ kind }) => kind !== 'sidecar').map((spec) => containerExit(context, spec));
  const mains = others.filter(({ spec }) => spec.kind === 'container');
  const mainsOver = mains.every(
    ({ ran, mayBeOlder, spec }) => (!ran || mayBeOlder === true) && !willStart(context.deletion, spec),
  );
  let waited = mains.reduce((all, exit) => waitedAlsoFor(context, all, exit), noneWaited);
  const sidecars = specs.filter(({ kind }) => kind === 'sidecar').reverse();
  const stopped = sidecars.map((spec) => {
    const exit = containerExit(context, spec, { turn: turnAfter(waited), mainsOver });
    waited = waitedAlsoFor(context, waited, exit);
    return exit;
  });
  // No end of a sidecar proves that it had its turn: it may have died of a signal of its own, or repeat the words of another's log.
  const exits = [...others, ...stopped];
  return order.flatMap((kind) => exits.filter(({ spec }) => spec.kind === kind));
}

const order = ['container', 'sidecar', 'init', 'ephemeral'] as const;

/** What a sidecar waits for, folded one by one, so that the ends are not compared again for each sidecar. */
interface Waited {
  /** One of them ran. */
  readonly ran: boolean;
  /** Of those whose end is known the last. */
  readonly latest?: Estimate;
  /** Every end is known. */
  readonly isComplete: boolean;
}

const noneWaited: Waited = { ran: false, isComplete: true };

function waitedAlsoFor(context: InferContext, waited: Waited, exit: ContainerExit): Waited {
  if (!exit.ran) return waited;
  const end = doneWith(context, exit);
  if (!end) return { ...waited, ran: true, isComplete: false };
  return { ...waited, ran: true, latest: waited.latest ? later(waited.latest, end) : end };
}

/** The moment the last of them was gone; unbounded where one's end is not known. */
function turnAfter({ ran, latest, isComplete }: Waited): Estimate | undefined {
  if (!ran) return undefined;
  return latest && isComplete ? latest : notBefore(latest ?? unbounded);
}

/**
 * The kubelet is done with a container when its hook has ended too: a sleep goes on after the container is gone. A kill that was
 * only assumed is taken back by now (container-rules.ts), and dates nobody else's turn.
 */
function doneWith({ network }: InferContext, { spec, exit, hook, assumes }: ContainerExit): Estimate | undefined {
  if (!exit || exit.provisional) return undefined;
  const at = assumes.includes('silent-kill') ? network.read(moment('exit', spec.name)) : exit.at;
  if (!hook) return at;
  const end = later(at, hook.end);
  if (!hook.doubted) return end;
  return { ...end, ...onBothClocks((clock) => ({ lo: at[clock].lo, hi: end[clock].hi })) };
}

const later = (a: Estimate, b: Estimate): Estimate => ({
  ...onBothClocks((clock) => laterOf(a[clock], b[clock])),
  basis: 'inferred',
  evidence: cite(a.evidence, b.evidence),
});

/** So many conclusions are worth it within `pause` ms. */
const most = 3;
const pause = 100;

/**
 * Whether it is worth concluding again after an observation. Of sixty containers that all log a thousand lines come in a second,
 * and one that names no signal narrows a little what is known already: what comes soon after several others is shown with the
 * next news, or with the report. A few lines, as an exit brings them, are never kept waiting.
 */
export function createChatterLimit(): (trace: Trace, observation: Observation) => boolean {
  let recent: readonly number[] = [];
  return ({ now }, observation) => {
    const isPlain = observation.kind === 'line' && !observation.namesSignal;
    if (isPlain && recent.length === most && now - (recent[0] ?? -Infinity) < pause) return false;
    if (isPlain) recent = [...recent, now].slice(-most);
    return true;
  };
}
