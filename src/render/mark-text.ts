/** The text of a mark in kubectl's words, and the name before it. One table for lines, HTML and Markdown. */
import type { ContainerTimeline, EndpointTimeline, Mark, PreStopExit, Timeline } from '../infer/timeline.ts';
import type { ContainerOutcome, MarkName, TriggerKind } from '../model/report.ts';
import { plural } from '../verdict/words.ts';
import type { Ink } from './palette.ts';
import { clockText, type Timestamps } from './time-text.ts';

export interface MarkText {
  /** The container, or a part of the cluster: `api`, `kubelet`, `service`, `node`, `replacement`. Unescaped. */
  readonly who: string;
  /** Unescaped. */
  readonly text: string;
  readonly ink: Ink;
}

export function markText(mark: Mark, timeline: Timeline, timestamps: Timestamps = 'utc'): MarkText {
  const container = timeline.containers.find(({ name }) => name === mark.subject);
  const [who, text, ink = 'plain'] = table[mark.name]({ mark, timeline, container, timestamps });
  return { who, text, ink };
}

interface MarkContext {
  readonly mark: Mark;
  readonly timeline: Timeline;
  readonly container: ContainerTimeline | undefined;
  readonly timestamps: Timestamps;
}

type Row = readonly [who: string, text: string, ink?: Ink];

const table: Record<MarkName, (context: MarkContext) => Row> = {
  requested: ({ timeline }) => ['request', timeline.mode === 'evict' ? 'eviction requested' : 'delete requested'],
  accepted: ({ timeline: { grace }, timestamps }) => [
    'api',
    `deletionTimestamp ${clockText(grace.deadline, 0, timestamps)} (grace period ${grace.effectiveSeconds}s)`,
  ],
  acknowledged: () => ['kubelet', 'kubelet started termination', 'dim'],
  unrouted: ({ mark, timeline }) => ['service', removedText(mark, timeline)],
  'endpoint-removed': ({ mark, timeline }) => [
    'service',
    `endpoint deleted from ${serviceText(mark, timeline)}`,
    'dim',
  ],
  stopping: ({ mark, timeline }) => {
    const hook = hookText(mark.subject, timeline);
    return hook === undefined
      ? [mark.subject ?? '', 'kubelet started termination', 'dim']
      : [mark.subject ?? '', `kubelet started termination: preStop ${hook} runs`];
  },
  'prestop-ended': ({ mark, container }) => hookEnd(mark.subject ?? '', container?.preStop),
  'stop-signal': ({ mark, container }) => [mark.subject ?? '', `${signalName(container)} sent`],
  'ready-lost': ({ mark }) => [mark.subject ?? '', 'not ready (its readiness probe failed)', 'dim'],
  'first-failure': () => ['requests', 'first request failed', 'bad'],
  'last-failure': () => ['requests', 'last request failed', 'bad'],
  kill: ({ mark }) => [mark.subject ?? '', 'SIGKILL: grace period exceeded', 'bad'],
  exited: ({ mark, container }) => [mark.subject ?? '', ...exitWords(container, mark.provisional)],
  'containers-done': () => ['kubelet', 'all containers terminated', 'dim'],
  'final-delete': () => ['kubelet', 'pod sandbox removed', 'dim'],
  finalizing: ({ mark, timeline }) => ['api', `waiting for finalizers ${finalizersOf(mark, timeline)}`, 'warning'],
  removed: () => ['api', 'pod deleted', 'strong'],
  'replacement-created': ({ mark }) => ['replacement', `${mark.subject ?? ''} created`],
  'replacement-scheduled': ({ mark }) => ['replacement', `${mark.subject ?? ''} scheduled`, 'dim'],
  'replacement-started': ({ mark }) => ['replacement', `${mark.subject ?? ''} started`, 'dim'],
  'replacement-ready': ({ mark }) => ['replacement', `${mark.subject ?? ''} ready`],
  'node-not-ready': ({ mark }) => ['node', `${mark.subject ?? ''} is NotReady`, 'warning'],
  'node-ready': ({ mark }) => ['node', `${mark.subject ?? ''} is Ready again`],
};

/** SIGTERM, or the stop signal that the pod or its image names instead. */
export const signalName = (container: ContainerTimeline | undefined): string =>
  container?.stopSignal?.signal ?? 'SIGTERM';

const endpointOf = (mark: Mark, { endpoints }: Timeline): EndpointTimeline | undefined =>
  endpoints.find(({ slice }) => slice === mark.subject);

function serviceText(mark: Mark, timeline: Timeline): string {
  const service = endpointOf(mark, timeline)?.service;
  return service === undefined ? `EndpointSlice ${mark.subject ?? ''}` : `Service ${service}`;
}

function removedText(mark: Mark, timeline: Timeline): string {
  const endpoint = endpointOf(mark, timeline);
  const serving = endpoint?.unroutedAt?.serving ? 'still serving; ' : '';
  const others = endpoint?.otherReady ?? 0;
  return `removed from ${serviceText(mark, timeline)} (${serving}${others === 0 ? 'no' : others} other ready ${others === 1 ? 'endpoint' : 'endpoints'})`;
}

/** `sleep 4s`, `exec`; undefined if the container has no preStop hook. */
export function hookText(container: string | undefined, { pod }: Timeline): string | undefined {
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const hook = containers.find(({ name }) => name === container)?.lifecycle?.preStop;
  if (!hook) return undefined;
  if (hook.sleep) return `sleep ${hook.sleep.seconds}s`;
  return hook.exec ? 'exec' : hook.httpGet ? 'httpGet' : 'tcpSocket';
}

function hookEnd(who: string, hook: PreStopExit | undefined): Row {
  const name = `preStop ${hook?.kind ?? 'hook'}`;
  switch (hook?.outcome) {
    case 'completed':
      return [who, `${name} completed`];
    case 'failed':
      return [who, `${name} failed`, 'bad'];
    case 'cut-off':
      return [who, `${name} still running at the end of the grace period`, 'bad'];
    default:
      return [who, `${name} finished (result unknown)`];
  }
}

function exitWords(container: ContainerTimeline | undefined, provisional: boolean): readonly [string, Ink] {
  if (!container?.exit || provisional) return ['log stream closed, container probably exited', 'plain'];
  return [exitText(container), exitInk[container.outcome]];
}

/** `exited 0`, `exited 143 (SIGTERM)`, `OOMKilled`, `exited 137`, `probably exited`, `still running`. */
export function exitText({
  exit,
  outcome,
  stopSignal,
}: Pick<ContainerTimeline, 'exit' | 'outcome' | 'stopSignal'>): string {
  if (outcome === 'abandoned') return 'left running';
  if (outcome === 'not-running') return 'not running';
  if (!exit) return outcome === 'unknown' ? 'termination was not observed' : 'still running';
  if (exit.code === undefined) return 'probably exited (its log stream closed)';
  if (outcome === 'oom') return 'OOMKilled';
  if (outcome === 'signalled') return `exited ${exit.code} (${stopSignal?.signal ?? 'SIGTERM'})`;
  return `exited ${exit.code}`;
}

export const exitInk: Record<ContainerOutcome, Ink> = {
  completed: 'good',
  signalled: 'good',
  failed: 'bad',
  killed: 'bad',
  oom: 'bad',
  abandoned: 'bad',
  'not-running': 'dim',
  unknown: 'warning',
};

/** Green below half of the grace period, yellow to 80 %, red above. */
export const shareInk = (share: number): Ink => (share < 0.5 ? 'good' : share <= 0.8 ? 'warning' : 'bad');

const finalizersOf = ({ note }: Mark, { pod }: Timeline): string => note ?? pod.metadata.finalizers?.join(', ') ?? '';

/** `2 other ready endpoints`. */
export const otherReady = (count: number): string =>
  count === 0 ? 'no other ready endpoint' : plural(count, 'other ready endpoint');

export const triggerText: Record<TriggerKind, string> = {
  'this-command': 'this command',
  'eviction-api': 'Eviction API',
  preemption: 'preempted by a higher-priority pod',
  taint: 'taint on its node',
  'device-taint': 'taint on a device',
  'pod-gc': 'pod garbage collection',
  rollout: 'rollout',
  'scale-down': 'scale-down',
  'owner-deleted': 'its owner was deleted',
  job: 'its Job',
  'namespace-deletion': 'its namespace was deleted',
  unknown: 'unknown client',
};
