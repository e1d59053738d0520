/** What the rules of a verdict look at, and which containers serve a Service: traffic is judged by their exits alone. */
import type { ContainerExit, PodExit } from '../infer/context.ts';
import type { ContainerTimeline, Mark, Timeline } from '../infer/timeline.ts';
import { controllerOf } from '../model/pod.ts';
import type { MarkName } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import type { Container } from '../model/observe/container.ts';
import type { Pod } from '../model/kube.ts';

export interface RuleInput {
  readonly trace: Trace;
  readonly timeline: Timeline;
  /** What the timeline was made from: for rules that need more than it keeps. */
  readonly exit: PodExit;
}

/** Containers that ran when the deletion came. */
export const ranIn = ({ containers }: Timeline): ContainerTimeline[] => containers.filter(({ ran }) => ran);

/** Those of them whose end makes the outcome; sidecars only raise findings. */
export const mainsIn = (timeline: Timeline): ContainerTimeline[] =>
  ranIn(timeline).filter(({ kind }) => kind === 'container' || kind === 'init');

/** The same as the inference knows them. */
export const ranExitsOf = ({ containers }: PodExit): ContainerExit[] => containers.filter((one) => one.ran);

export const mainExitsOf = (exit: PodExit): ContainerExit[] =>
  ranExitsOf(exit).filter(({ spec }) => spec.kind === 'container' || spec.kind === 'init');

export const markOf = ({ marks }: Timeline, name: MarkName, subject?: string): Mark | undefined =>
  marks.find((mark) => mark.name === name && (subject === undefined || mark.subject === subject));

/** The namespace or the owner was deleted too: nothing is meant to replace the pod. */
export const isWholeDeletion = ({ trigger }: Timeline): boolean =>
  ['namespace-deletion', 'owner-deleted'].includes(trigger.kind);

/** Nothing was meant to take over from the pod: a whole deletion, a scale to 0, a Job, force. No replica is then missing. */
export function isMeantToGo(timeline: Timeline): boolean {
  const { trigger, pod, workload } = timeline;
  if (isWholeDeletion(timeline) || trigger.kind === 'job' || controllerOf(pod)?.kind === 'Job') return true;
  if (workload?.kind === 'Job' || workload?.kind === 'CronJob' || workload?.replicas === 0) return true;
  return wasForced(timeline);
}

/** A container still ran when the pod was removed from the API. */
export const wasForced = (timeline: Timeline): boolean =>
  ranIn(timeline).some(({ outcome }) => outcome === 'abandoned');

/** ms. The longest and the shortest grace period that the kubelet may have counted (SIGNALS.md §1 "Repeat delete"). */
export const longestGrace = ({ grace }: Timeline): number => grace.counted.max * 1000;
export const shortestGrace = ({ grace }: Timeline): number => grace.counted.min * 1000;

/** ms: the grace period that shares are of. The kubelet makes 1 s of 0 s (SIGNALS.md §2 S1). */
export const graceLength = ({ grace }: Timeline): number => Math.max(1, grace.effectiveSeconds) * 1000;

/** `6s grace period`. */
export function graceText({ grace }: Timeline): string {
  const { min, max } = grace.counted;
  if (min !== max && Number.isFinite(max)) return `${min}–${max}s grace period`;
  return `${Math.max(1, grace.effectiveSeconds)}s grace period`;
}

/** SIGTERM, or the STOPSIGNAL of the image where something names it. */
export const signalName = ({ stopSignal }: Pick<ContainerTimeline, 'stopSignal'>): string =>
  stopSignal?.signal ?? 'SIGTERM';

/** Observations that show when the container got its stop signal and how it ended. */
export const evidenceOf = (timeline: Timeline, { name, stopSignal, kill, exit }: ContainerTimeline): number[] =>
  [markOf(timeline, 'stopping', name)?.at, stopSignal, kill, exit?.at].flatMap((one) => one?.evidence ?? []);

/**
 * Those with one of the Service's target ports. Ports need not be declared: where none fits, the only main container
 * serves; of several it is unknown which (undefined). A Service that was not seen, or recorded without its ports, is
 * taken to be served by the only main container.
 */
export function servingContainers(input: RuleInput, service: string | undefined): ContainerTimeline[] | undefined {
  const targets = targetPorts(input, service);
  const { timeline } = input;
  const declared = ranIn(timeline).filter(({ name }) => hasPort(timeline.pod, name, targets));
  if (declared.length > 0) return declared;
  const mains = mainsIn(timeline);
  return mains.length <= 1 ? mains : undefined;
}

const targetPorts = ({ trace }: RuleInput, service: string | undefined): readonly (number | string)[] =>
  (trace.services.get(service ?? '')?.spec.ports ?? []).map(({ port, targetPort = port }) => targetPort);

function hasPort(pod: Pod, name: string, targets: readonly (number | string)[]): boolean {
  const { ports = [] } = containerSpec(pod, name) ?? {};
  return ports.some((one) => targets.includes(one.containerPort) || (one.name && targets.includes(one.name)));
}

export const containerSpec = ({ spec }: Pod, name: string): Container | undefined =>
  [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].find(
    (one) => one.name === name,
  );
