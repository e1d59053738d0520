/**
 * Everything that can be concluded from a trace. Pure, and cheap enough to be asked after each observation. Main containers
 * stop together, sidecars after them in reverse order (SIGNALS.md §2 S7).
 */
import type { Exit } from './conclusions.ts';
import { deletionOf } from './deletion.ts';
import { endpointsOf } from './endpoints.ts';
import { podNetworkOf } from './pod-network.ts';
import { removalOf } from './removal.ts';
import { replacementOf } from './replacement.ts';
import { timelineFrom } from './timeline-from.ts';
import type { Timeline } from './timeline.ts';
import { triggerOf } from './trigger.ts';
import type { Trace } from '../model/trace.ts';
import { containersOf } from '../model/pod.ts';
import { laterOf } from '../model/span.ts';
import type { ContainerExit, InferContext } from './context.ts';
import { cite, notBefore, unbounded, type Estimate } from './estimate.ts';
import { isToStart } from './kubelets-own-stop.ts';
import { containerExit } from './container-rules.ts';

/** The timeline, and what it was made from, where somebody was seen to delete the pod. */
export interface Concluded {
  readonly timeline: Timeline;
  readonly exit: Exit | undefined;
}

/** Undefined while not even the pod has been seen. */
export function conclude(trace: Trace): Concluded | undefined {
  if (!trace.pod) return undefined;
  const exit = exitOf(trace);
  return { timeline: timelineFrom(trace, exit, trace.pod.value), exit };
}

export const timelineOf = (trace: Trace): Timeline | undefined => conclude(trace)?.timeline;

function exitOf(trace: Trace): Exit | undefined {
  const deletion = deletionOf(trace);
  if (!deletion) return undefined;
  const context = podNetworkOf(trace, deletion);
  const { kubelet, stage } = context;
  const containers = exitsOf(context);
  const trigger = triggerOf(trace, deletion);
  return {
    deletion,
    kubelet,
    stage,
    containers,
    endpoints: endpointsOf(context, containers),
    removal: removalOf(context, containers),
    replacement: replacementOf(context, trigger.kind),
    trigger,
  };
}

/** In the order of the spec, which is the report's: main containers first, then sidecars, init and ephemeral ones. */
function exitsOf(context: InferContext): ContainerExit[] {
  const specs = containersOf(context.deletion.facts.first.value);
  const mains = specs.filter((spec) => spec.kind !== 'sidecar').map((spec) => containerExit(context, spec, alone));
  const mainsOver = mains.every(
    (one) => one.spec.kind !== 'container' || ((!one.ran || one.mayBeOlder) && !isToStart(context.deletion, one.spec)),
  );
  const sidecars = specs.filter((spec) => spec.kind === 'sidecar').reverse();
  let waited = mains.filter((one) => one.spec.kind === 'container').reduce(waitedAlsoFor, noneWaited);
  const stopped = sidecars.map((spec) => {
    const one = containerExit(context, spec, { turn: turnAfter(waited), mainsOver });
    waited = waitedAlsoFor(waited, one);
    return one;
  });
  // The other way round nothing follows: no end of a sidecar proves that it had its turn. It may have died of a signal of its
  // own, or repeat the words of another's log.
  const exits = [...mains, ...stopped];
  return order.flatMap((kind) => exits.filter((exit) => exit.spec.kind === kind));
}

/** Nothing that it waits for. */
const alone = { turn: undefined, mainsOver: false };

const order = ['container', 'sidecar', 'init', 'ephemeral'] as const;

/** What a sidecar waits for, folded one by one, so that the ends are not compared again for each sidecar. */
interface Waited {
  /** One of them ran. */
  readonly ran: boolean;
  /** Of those whose end is known the last. */
  readonly latest?: Estimate;
  /** Every end is known. */
  readonly isWhole: boolean;
}

const noneWaited: Waited = { ran: false, isWhole: true };

function waitedAlsoFor(waited: Waited, exit: ContainerExit): Waited {
  if (!exit.ran) return waited;
  const end = doneWith(exit);
  if (!end) return { ...waited, ran: true, isWhole: false };
  return { ...waited, ran: true, latest: waited.latest ? later(waited.latest, end) : end };
}

/** The moment the last of them was gone; unbounded where one's end is not known. */
function turnAfter({ ran, latest, isWhole }: Waited): Estimate | undefined {
  if (!ran) return undefined;
  return latest && isWhole ? latest : notBefore(latest ?? unbounded);
}

/** The kubelet is done with a container when its hook has ended too: a sleep goes on after the container is gone. */
function doneWith({ exit, hook }: ContainerExit): Estimate | undefined {
  if (!exit || exit.provisional) return undefined;
  if (hook?.doubted) return spanning(exit.at, later(exit.at, hook.end));
  return hook ? later(exit.at, hook.end) : exit.at;
}

/** From the one to the other. */
const spanning = (a: Estimate, b: Estimate): Estimate => ({
  ...b,
  client: { lo: a.client.lo, hi: b.client.hi },
  node: { lo: a.node.lo, hi: b.node.hi },
});

const later = (a: Estimate, b: Estimate): Estimate => ({
  client: laterOf(a.client, b.client),
  node: laterOf(a.node, b.node),
  basis: 'inferred',
  evidence: cite(a.evidence, b.evidence),
});
