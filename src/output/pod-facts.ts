/** Facts about a pod for every output: its name, its owner, its grace period, who deleted it and how long that took. */
import type { ContainerTimeline, Interval, Length, Timeline } from '../infer/timeline.ts';
import { controllerOf } from '../model/pod.ts';
import { lengthText, secondsText } from '../verdict/length-text.ts';
import type { Report } from '../verdict/report.ts';
import { signalName } from '../verdict/rule-input.ts';
import { triggerText } from './mark-text.ts';
import { clockText, dayText } from './time-text.ts';

/** `shop/checkout-6677656c54-258qr` */
export const podText = ({ pod: { metadata } }: Pick<Timeline, 'pod'>): string =>
  `${metadata.namespace ?? ''}/${metadata.name}`;

/** `deployment/checkout`: the workload, else the pod's controller; undefined for a pod without one. */
export function ownerText({ pod, workload }: Pick<Timeline, 'pod' | 'workload'>): string | undefined {
  const owner = workload ?? controllerOf(pod);
  return owner && `${owner.kind.toLowerCase()}/${owner.name}`;
}

/** `6s (30s in its spec)` */
export const podGraceText = ({ grace: { effectiveSeconds, specSeconds } }: Timeline): string =>
  `${effectiveSeconds}s${effectiveSeconds === specSeconds ? '' : ` (${specSeconds}s in its spec)`}`;

/** `preempted by a higher-priority pod`, with the note of the trigger. */
export const deletedByText = ({ trigger: { kind, note } }: Timeline): string =>
  note === undefined ? triggerText[kind] : kind === 'unknown' ? note : `${triggerText[kind]}, ${note}`;

/** `2026-11-20 23:04:29 UTC`: when it was, for documents that are read later. */
export const dateText = (at: number): string => `${dayText(at, 'utc').slice(0, 10)} ${clockText(at, 0, 'utc')} UTC`;

/** `gone after 6.9s: ≈3.7s until SIGTERM (Eviction API)`; undefined for a check, which deletes nothing. */
export function deletedText({ timeline, answer }: Report): string | undefined {
  const { total, trigger, deleted, mode } = timeline;
  if (!deleted) return mode === 'check' ? undefined : 'not deleted';
  const isUnnamed = trigger.kind === 'unknown' && trigger.note === undefined;
  const by = trigger.kind === 'this-command' || isUnnamed ? '' : ` (${deletedByText(timeline)})`;
  if (!total) return `still terminating${by}`;
  return `gone after ${lengthText(total)}${partsOfTotal(timeline, total, answer.cause?.code)}${by}`;
}

/** Causes whose sentence already says why the stop signal came late. */
const signalDelayCauses = ['node-silent', 'slow-start', 'kubelet-restarted', 'runtime-unavailable'];

/** Causes whose sentence already says how long the pod stayed after the last exit. */
const slowRemovalCauses = ['finalizer-held', 'slow-cleanup'];

/** Parts of the total that exits and cause do not explain: `: ≈3.7s until SIGTERM, up to 11.0s after the last exit`. */
export function partsOfTotal(timeline: Timeline, total: Length, cause = ''): string {
  const untilSignalText = signalDelayCauses.includes(cause) ? undefined : untilSignal(timeline);
  const afterExitText = slowRemovalCauses.includes(cause) ? undefined : afterExit(timeline, total);
  const texts = [untilSignalText, afterExitText].flatMap((text) => text ?? []);
  return texts.length === 0 ? '' : `: ${texts.join(', ')}`;
}

/** Only without a preStop hook, which would explain the wait. */
function untilSignal({ containers, zero }: Timeline): string | undefined {
  const mains = containers.filter(({ ran, kind }) => ran && kind === 'container');
  if (mains.some(({ preStop, stopSignal }) => preStop || !stopSignal)) return undefined;
  const [container] = mains.sort((a, b) => shownSignal(a) - shownSignal(b));
  const first = container?.stopSignal;
  if (!first || first.earliest - zero < longWaitMs / 2 || first.shown - zero < longWaitMs) return undefined;
  const length = { min: first.earliest - zero, max: first.latest - zero, shown: first.shown - zero };
  return `${lengthText(length)} until ${signalName(container)}`;
}

const shownSignal = ({ stopSignal }: ContainerTimeline): number => stopSignal?.shown ?? Infinity;

/** A shorter wait needs no explanation. */
const longWaitMs = 1000;

function afterExit({ containers, marks }: Timeline, total: Length): string | undefined {
  const gone = marks.find(({ name }) => name === 'removed')?.at;
  const exits = containers.filter(({ ran }) => ran).map(({ exit }) => exit?.at);
  if (!gone || exits.length === 0) return undefined;
  const last = (read: (at: Interval) => number): number => Math.max(...exits.map((at) => (at ? read(at) : Infinity)));
  const lastExit = last(({ latest }) => latest);
  // Counted to where the total ends, because a part must not be longer than the whole.
  const shown = gone.shown - last((at) => at.shown);
  const max = gone.shown - last(({ earliest }) => earliest);
  // If the removal may have arrived late, `max` is worth printing only if it is below the total.
  const isSure = gone.earliest - lastExit > longWaitMs / 2;
  if (!(isSure ? shown >= longWaitMs : shown >= 3 * longWaitMs && max < total.shown)) return undefined;
  const drained = Math.max(0, ...containers.map(({ drain }) => drain?.min ?? 0));
  const sure = { min: gone.shown - lastExit, max: Math.min(max, total.shown - drained), shown };
  return `${isSure ? lengthText(sure) : `up to ${secondsText(max)}`} after the last exit`;
}
