/** The progress of a deletion at a given time, in a word and a few facts, and a warning if the node is silent. Pure. */
import type { ContainerTimeline, Mark, Timeline } from '../../infer/timeline.ts';
import { serviceNames } from '../../verdict/routing.ts';
import { markOf } from '../../verdict/rule-input.ts';
import type { Ink } from '../palette.ts';

interface Fact {
  readonly text: string;
  readonly ink: Ink;
}

export interface Status {
  /** As in `kubectl get pods`, if that has a word for it. */
  readonly word: string;
  readonly ink: Ink;
  /** Unescaped, the most important first. */
  readonly facts: readonly Fact[];
}

/** `now`: ms, client's clock. */
export function liveStatus(timeline: Timeline, now: number): Status {
  if (!timeline.deleted) return waitingStatus(timeline);
  const total = `after ${durationText(timeline.total?.shown ?? 0)}`;
  if (markOf(timeline, 'removed')) return { word: 'Deleted', ink: 'strong', facts: [{ text: total, ink: 'plain' }] };
  const services = serviceFact(timeline);
  const counted = graceOfNext(timeline);
  return {
    word: 'Terminating',
    ink: counted && counted.end <= now ? 'bad' : 'warning',
    facts: [
      { text: counted ? usedText(counted, now) : durationText(now - timeline.zero), ink: 'plain' },
      stepFact(timeline, now),
      ...(services ? [services] : []),
    ],
  };
}

function waitingStatus(timeline: Timeline): Status {
  const waiting = timeline.mode === 'attach' ? 'waiting for the pod to be deleted' : 'opening watches';
  const requested = timeline.mode === 'evict' ? 'eviction requested' : 'delete requested';
  const text = markOf(timeline, 'requested') ? requested : waiting;
  return { word: timeline.pod.status.phase ?? 'Pending', ink: 'plain', facts: [{ text, ink: 'plain' }] };
}

/** A container's grace period as its kubelet counts it; ms, client's clock. */
interface CountedGrace {
  readonly start: number;
  readonly end: number;
}

/** Undefined until the kubelet is known to count. Every bar, share and countdown is read from this. */
export function countedGrace({ name, graceEnd }: ContainerTimeline, timeline: Timeline): CountedGrace | undefined {
  if (!graceEnd || !Number.isFinite(graceEnd.shown)) return undefined;
  const start = (stoppingOf({ name }, timeline) ?? markOf(timeline, 'acknowledged'))?.at.shown ?? timeline.zero;
  return { start: Math.min(start, graceEnd.shown - 1), end: graceEnd.shown };
}

export const stoppingOf = ({ name }: Pick<ContainerTimeline, 'name'>, { marks }: Timeline): Mark | undefined =>
  marks.findLast((mark) => mark.name === 'stopping' && mark.subject === name);

/** The grace period that ends first of those that still count; undefined while none does. */
export const graceOfNext = (timeline: Timeline): CountedGrace | undefined =>
  timeline.containers
    .filter(isStillRunning)
    .flatMap((container) => countedGrace(container, timeline) ?? [])
    .sort((a, b) => a.end - b.end)[0];

/** `0:05 of 0:20`: together with the countdown to SIGKILL, the first number gives the second. */
export function usedText({ start, end }: CountedGrace, now: number): string {
  const whole = Math.max(1, Math.round((end - start) / 1000));
  const left = Math.min(whole, Math.max(0, Math.ceil((end - now) / 1000)));
  return `${durationText((whole - left) * 1000)} of ${durationText(whole * 1000)}`;
}

/** The countdown, or what comes after the containers. */
function stepFact(timeline: Timeline, now: number): Fact {
  const finalizers = markOf(timeline, 'finalizing');
  if (finalizers) return { text: `waiting for finalizers ${finalizers.note ?? ''}`, ink: 'warning' };
  const done = markOf(timeline, 'containers-done');
  if (done)
    return { text: `all containers terminated, cleaning up for ${durationText(now - done.at.shown)}`, ink: 'plain' };
  if (!timeline.containers.some(isStillRunning)) return { text: 'waiting for the kubelet', ink: 'plain' };
  const counted = graceOfNext(timeline);
  if (!counted) return { text: 'kubelet has not reacted', ink: 'warning' };
  const left = counted.end - now;
  const seconds = Math.ceil(left / 1000);
  if (seconds <= 0) return { text: seconds < -1 ? `SIGKILL overdue by ${-seconds}s` : 'SIGKILL due', ink: 'bad' };
  const text = `SIGKILL in ${seconds >= 120 ? durationText(left) : `${seconds}s`}`;
  return { text, ink: seconds <= 5 ? 'bad' : 'plain' };
}

export const isStillRunning = ({ ran, exit }: ContainerTimeline): boolean => ran && !exit;

function serviceFact({ endpoints }: Timeline): Fact | undefined {
  const wereReady = endpoints.filter(({ wasReady }) => wasReady);
  const services = serviceNames(wereReady);
  if (services.length === 0) return undefined;
  const ready = serviceNames(wereReady.filter(({ unroutedAt, removedAt }) => !unroutedAt && !removedAt));
  const still = services.filter((name) => ready.includes(name));
  const what = (names: readonly string[]): string =>
    names.length === 1 ? `Service ${names[0] ?? ''}` : `${names.length} Services`;
  return still.length === 0
    ? { text: `removed from ${what(services)}`, ink: 'good' }
    : { text: `still in ${what(still)}`, ink: 'warning' };
}

/** `0:21`, `1:02:03`; never negative. ms. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${hours > 0 ? `${hours}:${two(rest)}` : String(rest)}:${two(seconds % 60)}`;
}

/** What is wrong with the node and what to run, or nothing. Unescaped. `now`: ms, client's clock; `flags`: connection flags. */
export function nodeTrouble(timeline: Timeline, now: number, flags: string): string[] {
  const { metadata, spec } = timeline.pod;
  // Then the node has nothing left to stop.
  if (timeline.marks.some(({ name }) => ['removed', 'containers-done', 'final-delete'].includes(name))) return [];
  const text = troubleText(timeline, now);
  if (text === undefined) return [];
  const ofPod = `pod ${metadata.name} -n ${metadata.namespace ?? ''}`;
  return [text, `kubectl describe ${spec.nodeName === undefined ? ofPod : `node ${spec.nodeName}`}${flags}`];
}

function troubleText(timeline: Timeline, now: number): string | undefined {
  const { pod, containers } = timeline;
  const node = pod.spec.nodeName ?? 'its node';
  const downAt = markOf(timeline, 'node-not-ready')?.at.shown;
  const upAt = markOf(timeline, 'node-ready')?.at.shown;
  if (downAt !== undefined && (upAt === undefined || upAt < downAt))
    return `node ${node} has been NotReady for ${durationText(now - downAt)}: nothing stops this pod until it is back`;
  const accepted = markOf(timeline, 'accepted')?.at.shown;
  const reacted = markOf(timeline, 'acknowledged') ?? markOf(timeline, 'stopping');
  // A kubelet starts termination within a second after the acceptance (SIGNALS.md §2).
  if (!reacted && containers.some(isStillRunning) && accepted !== undefined && now - accepted > 5000)
    return `kubelet on ${node} is not responding: no reaction for ${durationText(now - accepted)}`;
  return markOf(timeline, 'acknowledged')?.note;
}
