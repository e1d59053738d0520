/** The preStop hook: the API tells its failure, never its success (SIGNALS.md §2 S6, §5). */
import type { HookKind } from '../model/kube.ts';
import type { ContainerSpec } from '../model/pod.ts';
import { hookOf } from '../model/pod.ts';
import { second } from '../model/span.ts';
import type { Occurrence, Trace } from '../model/trace.ts';
import { isOpen, sinceOf } from './began.ts';
import type { Estimate } from './estimate.ts';
import { crossed } from './estimate.ts';
import type { HookEnd, HookFailure } from './hook-end.ts';
import { eventPatience, hookEnd, isDeaf } from './hook-end.ts';
import { belongs } from './kubelet.ts';
import type { Rounds } from './rounds.ts';
import type { Scene } from './scene.ts';
import { isUntellable } from './tellable.ts';

/** A preStop hook of this exit, as far as it is known. */
export interface HookFacts extends HookEnd {
  readonly kind: HookKind;
  readonly start: Estimate;
  /** The kubelet perhaps never touched the container: then the hook did not run at all. */
  readonly doubted?: true;
  /** That it failed may yet be told: the status overtook the Event. */
  readonly mayFail?: true;
  /** It cannot have signalled the application itself. */
  readonly inert: boolean;
  /** FailedPreStopHook, where it was told. */
  readonly failure?: Occurrence;
  /** Length of a sleep action, s. */
  readonly sleepSeconds?: number;
}

export function hookFacts(scene: Scene, spec: ContainerSpec, inputs: Rounds): HookFacts | undefined {
  const hook = hookOf(spec.container);
  if (!hook) return undefined;
  const { began } = inputs;
  const { kubelet } = scene;
  const { failure, doubted } = failureOf(scene, spec, inputs);
  const seconds = hook.handler.sleep?.seconds;
  const known = {
    kind: hook.kind,
    start: began,
    ...(failure ? { failure } : {}),
    ...(seconds === undefined ? {} : { sleepSeconds: seconds }),
  };
  const inert = hook.kind === 'sleep' || hook.kind === 'tcpSocket' || hook.handler.exec?.inert === true;
  const least = (hook.handler.exec?.seconds ?? 0) * second;
  const ending = hookEnd(scene, { ...inputs, kind: hook.kind, seconds, least, failure, doubted });
  const isComing = !failure && hook.kind !== 'sleep' && mayBeComing(scene.trace, inputs.ended);
  // Others of the pod had their Killing, and it had none: perhaps it was not there any more, and its hook never ran (trap 7).
  const isUntouched =
    inputs.killings.length === 0 &&
    !failure &&
    ((kubelet.killings.size > 0 && !isUntellable(scene.trace, inputs.ended)) || mayBeComing(scene.trace, inputs.ended));
  const open = isComing ? { mayFail: true as const } : {};
  return {
    ...known,
    ...ending,
    ...open,
    inert,
    end: crossed(ending.end, kubelet.clock),
    outcome: isUntouched ? 'unknown' : ending.outcome,
  };
}

/** An Event of it may be on its way: the status that tells its end overtook it. */
function mayBeComing(trace: Trace, ended: Estimate | undefined): boolean {
  const isOver = trace.gone !== undefined || isDeaf(trace);
  return !isOver && trace.heard < (ended?.client.hi ?? Infinity) + eventPatience;
}

/**
 * A failure that is older than the deletion is not this exit's. Where only the acceptance bounds it, and the clocks do not
 * tell, it counts if it was told live after the deletion, and no kill for another reason can have run that hook.
 */
function failureOf(scene: Scene, spec: ContainerSpec, { began, killings }: Rounds): HookFailure {
  const { trace, deletion, kubelet } = scene;
  const all = about(trace, spec, 'FailedPreStopHook');
  if (!isOpen(began)) return { failure: all.find(({ time }) => time.hi >= began.node.lo), doubted: false };
  const since = sinceOf(scene, began, killings);
  const isAlone = about(trace, spec, 'Killing').every((one) => killings.includes(one));
  const possible = all.filter((one) => belongs(trace, deletion, kubelet.clock, one));
  const failure = possible.find(
    ({ time, isOld, count, seq }) =>
      time.lo >= since || (isAlone && !isOld && count === 1 && seq > deletion.facts.seenSeq),
  );
  return { failure, doubted: !failure && possible.length > 0 };
}

const about = (trace: Trace, spec: ContainerSpec, reason: string): Occurrence[] =>
  trace.events.filter((one) => one.reason === reason && one.about.container === spec.name);
