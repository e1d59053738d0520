/** When the node does not do its part, and the command to look further: what the live view shouts. Pure. */
import type { Timeline } from '../infer/timeline.ts';
import { isStillRunning, killDueIn, minutes } from './status.ts';

/** ms after the acceptance; a kubelet starts termination within a second (SIGNALS.md §2). */
const silentAfter = 5000;
/** ms past the grace period: a hook leaves at least 2 s, and the kill itself may take about 3 s (SIGNALS.md §2). */
const overdueAfter = 5000;

/** Nothing, or what is wrong and what to run. Unescaped. `now`: ms, client's clock; `flags`: connection flags. */
export function nodeTrouble(timeline: Timeline, now: number, flags: string): string[] {
  const { pod, marks } = timeline;
  const has = (name: string): boolean => marks.some((mark) => mark.name === name);
  if (has('removed') || has('containers-done') || has('final-delete')) return [];
  const text = wordsOf(timeline, now);
  if (text === undefined) return [];
  const node = pod.spec.nodeName;
  return [
    text,
    node === undefined
      ? `kubectl describe pod ${pod.metadata.name} -n ${pod.metadata.namespace ?? ''}${flags}`
      : `kubectl describe node ${node}${flags}`,
  ];
}

function wordsOf(timeline: Timeline, now: number): string | undefined {
  const { pod, marks, containers } = timeline;
  const node = pod.spec.nodeName ?? 'its node';
  const downAt = marks.find(({ name }) => name === 'node-not-ready')?.at.shown;
  const upAt = marks.find(({ name }) => name === 'node-ready')?.at.shown;
  if (downAt !== undefined && (upAt === undefined || upAt < downAt))
    return `node ${node} has been NotReady for ${minutes(now - downAt)}: nothing stops this pod until it is back`;
  const accepted = marks.find(({ name }) => name === 'accepted')?.at.shown;
  const reacted = marks.some(({ name }) => name === 'acknowledged' || name === 'stopping');
  const waits = containers.some(isStillRunning);
  if (!reacted && waits && accepted !== undefined && now - accepted > silentAfter)
    return `kubelet on ${node} is not responding: no reaction for ${minutes(now - accepted)}`;
  const trouble = marks.find(({ name }) => name === 'acknowledged')?.note;
  if (trouble !== undefined) return trouble;
  const left = killDueIn(timeline, now);
  if (left === undefined || left > -overdueAfter) return undefined;
  return `kubelet on ${node} is not responding: SIGKILL is overdue by ${minutes(-left)}`;
}
