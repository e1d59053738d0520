/** The input of all verdict rules, and what many of them read from it. */
import type { DeletionContext } from '../infer/context.ts';
import type { Bounds, ContainerTimeline, Mark, Timeline } from '../infer/timeline.ts';
import { containersOf, controllerOf, statusOf } from '../model/pod.ts';
import type { MarkName } from '../model/report.ts';
import { numberOfSignal } from '../programs/rows.ts';
import { second } from '../model/span.ts';
import { parseTime } from '../model/stamps.ts';
import type { Trace } from '../model/trace.ts';
import type { Container } from '../model/observe/container.ts';
import type { Pod } from '../model/kube.ts';

/** What rules judge, and what it does not contain: facts of streams and Events, the request, the clocks. */
export interface RuleInput extends DeletionContext {
  readonly timeline: Timeline;
}

/** Containers that were running when the pod was deleted. */
export const ranContainers = ({ containers }: Timeline): ContainerTimeline[] => containers.filter(({ ran }) => ran);

/** The running containers whose ends decide the outcome; sidecars only cause findings. */
export const mainContainers = (timeline: Timeline): ContainerTimeline[] =>
  ranContainers(timeline).filter(({ kind }) => kind === 'container' || kind === 'init');

export const markOf = ({ marks }: Timeline, name: MarkName): Mark | undefined =>
  marks.find((mark) => mark.name === name);

/** Which probe the kubelet named as it ended the last run of a container: `liveness`, `startup`. Its times are whole seconds. */
export const probesFailed = ({ events }: Trace, pod: Pod): ReadonlyMap<string, string> =>
  new Map(
    events.flatMap(({ reason, message, about: { container = '' }, time }): [string, string][] => {
      const { startedAt, finishedAt } = statusOf(pod, container)?.lastState?.terminated ?? {};
      const [, probe = ''] = / failed (liveness|startup) probe, /.exec(message) ?? [];
      const isOfRun = time.hi >= (parseTime(startedAt) ?? Infinity) && time.lo < (parseTime(finishedAt) ?? 0) + second;
      return reason === 'Killing' && probe !== '' && isOfRun ? [[container, probe]] : [];
    }),
  );

/** The namespace or the owner was deleted too, so nothing replaces the pod. */
export const isCascade = ({ trigger }: Timeline): boolean =>
  ['namespace-deletion', 'owner-deleted'].includes(trigger.kind);

/** Nothing has to take over from the pod (cascade, scale to 0, Job, forced deletion), so no replica is missing. */
export function needsNoReplacement(timeline: Timeline): boolean {
  const { trigger, pod, workload } = timeline;
  if (isCascade(timeline) || trigger.kind === 'job' || controllerOf(pod)?.kind === 'Job') return true;
  return workload?.kind === 'Job' || workload?.kind === 'CronJob' || workload?.replicas === 0;
}

/** A container still ran when the pod was removed from the API. */
export const wasForced = (timeline: Timeline): boolean =>
  ranContainers(timeline).some(({ outcome }) => outcome === 'abandoned');

/** The longest grace period that the kubelet may have counted (SIGNALS.md §1 "Repeat delete"). */
export const longestGraceMs = ({ grace }: Timeline): number => grace.counted.max * 1000;

/** The grace period that percentages refer to. The kubelet treats 0 s as 1 s (SIGNALS.md §2 S1). */
export const graceMs = ({ grace }: Timeline): number => Math.max(1, grace.effectiveSeconds) * 1000;

/** A length as a share of the grace period that the kubelet may have counted; 1 is all of it. */
export const shareOfGrace = (timeline: Timeline, { min, max, shown }: Bounds): Bounds => ({
  min: min / longestGraceMs(timeline),
  max: max / (timeline.grace.counted.min * 1000),
  shown: shown / graceMs(timeline),
});

/** Not if the kubelet's last DELETE, which changes it to 0, may have come before podexit did. */
export const isGraceSeen = ({ grace: { effectiveSeconds, counted } }: Timeline): boolean =>
  Number.isFinite(counted.max) || (effectiveSeconds <= counted.min && effectiveSeconds > 0);

/** `6s`, `not seen` */
export const graceSecondsText = (timeline: Timeline): string =>
  isGraceSeen(timeline) ? `${timeline.grace.effectiveSeconds}s` : 'not seen';

/** `6s grace period`; without a length that nothing showed. */
export function graceText(timeline: Timeline): string {
  const { grace } = timeline;
  const { min, max } = grace.counted;
  if (!isGraceSeen(timeline)) return 'grace period';
  if (min !== max && Number.isFinite(max)) return `${min}–${max}s grace period`;
  return `${Math.max(1, grace.effectiveSeconds)}s grace period`;
}

/** SIGTERM if no other name is known. Undefined if what was seen, or its exit, does not fit it (SIGNALS.md §2 S8). */
export function stopSignalName(container: Signalled | undefined): string | undefined {
  if (container?.stopSignal?.isPerhapsOther) return undefined;
  const name = container?.stopSignal?.signal ?? 'SIGTERM';
  const endedByOther =
    container?.outcome === 'signalled' && container.exit?.code !== 128 + (numberOfSignal(name) ?? NaN);
  return endedByOther ? undefined : name;
}

type Signalled = Pick<ContainerTimeline, 'stopSignal' | 'outcome' | 'exit'>;

/** The stop signal in a sentence. */
export const signalName = (container: Signalled | undefined): string => stopSignalName(container) ?? 'the stop signal';

/** Whether its command ignores the stop signal, as far as a trap shows: one for SIGTERM says nothing of another signal. */
export const ignoresItsSignal = ({ pod }: Timeline, container: ContainerTimeline): boolean =>
  containerSpec(pod, container.name)?.ignoresTerm === true && stopSignalName(container) === 'SIGTERM';

/**
 * Containers that declare one of the Service's target ports; if none does, the only main container. With several, or
 * without the Service's ports, we cannot know which (undefined).
 */
export function servingContainers({ trace, timeline }: RuleInput, service?: string): ContainerTimeline[] | undefined {
  const ports = trace.services.get(service ?? '')?.spec.ports ?? [];
  const targets = ports.map(({ port, targetPort = port }) => targetPort);
  const declared = ranContainers(timeline).filter(({ name }) => hasPort(timeline.pod, name, targets));
  if (declared.length > 0) return declared;
  const mains = mainContainers(timeline);
  return mains.length <= 1 ? mains : undefined;
}

function hasPort(pod: Pod, name: string, targets: readonly (number | string)[]): boolean {
  const { ports = [] } = containerSpec(pod, name) ?? {};
  return ports.some((port) => targets.includes(port.containerPort) || (port.name && targets.includes(port.name)));
}

export const containerSpec = (pod: Pod, name: string): Container | undefined =>
  containersOf(pod).find((one) => one.name === name)?.container;

/** The grace period that a deletion asked for, and the spec's, in seconds. */
export function loweredGrace({ deletion, timeline }: RuleInput) {
  const { effectiveSeconds, counted, specSeconds: spec } = timeline.grace;
  // If the deletion was not seen to begin, a grace of 0 may be the kubelet's last DELETE, which no client asked for (SIGNALS.md trap 2).
  const asked = deletion.grace > 0 || deletion.isWitnessed ? effectiveSeconds : counted.max;
  // The kubelet treats 0 s as 1 s (SIGNALS.md §2 S1).
  return Math.max(1, asked) < spec ? { asked, spec } : undefined;
}

/** `the deletion asked for 1s instead of the spec's 30s`; undefined if it did not ask for less. */
export function loweredGraceText(input: RuleInput): string | undefined {
  const grace = loweredGrace(input);
  return grace && `the deletion ${askedText(grace)}`;
}

export const askedText = ({ asked, spec }: Record<'asked' | 'spec', number>): string =>
  `asked for ${asked}s instead of the spec's ${spec}s`;
