/** The text of a mark in kubectl's words, and the name before it. One table for lines, HTML and Markdown. */
import type { ContainerTimeline, Mark, PreStopExit, Timeline } from '../infer/timeline.ts';
import { hookOf } from '../model/pod.ts';
import type { ContainerOutcome, MarkName, TriggerKind } from '../model/report.ts';
import { signalOfExitCode } from '../programs/rows.ts';
import { containerSpec, graceSecondsText, signalName, stopSignalName } from '../verdict/rule-input.ts';
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
  const subject = mark.subject ?? '';
  const [who, text, ink = 'plain'] = table[mark.name]({ mark, subject, timeline, container, timestamps });
  return { who, text, ink };
}

interface MarkContext {
  readonly mark: Mark;
  readonly subject: string;
  readonly timeline: Timeline;
  readonly container: ContainerTimeline | undefined;
  readonly timestamps: Timestamps;
}

type Row = readonly [who: string, text: string, ink?: Ink];

const table: Record<MarkName, (context: MarkContext) => Row> = {
  requested: ({ timeline }) => ['request', timeline.mode === 'evict' ? 'eviction requested' : 'delete requested'],
  accepted: ({ timeline, timestamps }) => {
    const time = clockText(timeline.grace.deadline, 0, timestamps);
    return ['api', `deletionTimestamp ${time} (grace period ${graceSecondsText(timeline)})`];
  },
  acknowledged: () => ['kubelet', 'kubelet acts on the deletion', 'dim'],
  unrouted: ({ subject, timeline }) => {
    const others = timeline.endpoints.find(({ slice }) => slice === subject)?.otherReady ?? 0;
    return ['service', `removed from ${serviceText(subject, timeline)} (${otherReady(others)})`];
  },
  'endpoint-removed': ({ subject, timeline }) => [
    'service',
    `endpoint deleted from ${serviceText(subject, timeline)}`,
    'dim',
  ],
  stopping: ({ subject, timeline }) => {
    const hook = hookText(subject, timeline);
    return hook === undefined
      ? [subject, 'kubelet started termination', 'dim']
      : [subject, `kubelet started termination: preStop ${hook} runs`];
  },
  'stopping-again': ({ subject }) => [subject, 'kubelet started termination again: a new grace period', 'warning'],
  'prestop-ended': ({ subject, container: { preStop: hook } = {} }) => {
    const [text, ink] = hookEnds[hook?.outcome ?? 'unknown'];
    return [subject, `preStop ${hook?.kind ?? 'hook'} ${text}`, ink];
  },
  'stop-signal': ({ subject, container }) => [subject, `${stopSignalName(container) ?? 'stop signal'} sent`],
  'ready-lost': ({ subject }) => [subject, 'not ready (its readiness probe failed)', 'dim'],
  'first-failure': () => ['requests', 'first request failed', 'bad'],
  'last-failure': () => ['requests', 'last request failed', 'bad'],
  kill: ({ subject }) => [subject, 'SIGKILL: grace period exceeded', 'bad'],
  exited: ({ mark, subject, container }) =>
    container?.exit && !mark.provisional
      ? [subject, exitText(container), exitInk[container.outcome]]
      : [subject, 'log stream closed, container probably exited'],
  'containers-done': () => ['kubelet', 'all containers terminated', 'dim'],
  'final-delete': () => ['kubelet', 'pod sandbox removed', 'dim'],
  finalizing: ({ mark, timeline: { pod } }) => {
    return ['api', `waiting for finalizers ${mark.note ?? pod.metadata.finalizers?.join(', ') ?? ''}`, 'warning'];
  },
  removed: () => ['api', 'pod deleted', 'strong'],
  'replacement-created': ({ subject }) => ['replacement', `${subject} created`],
  'replacement-scheduled': ({ subject }) => ['replacement', `${subject} scheduled`, 'dim'],
  'replacement-started': ({ subject }) => ['replacement', `${subject} started`, 'dim'],
  'replacement-ready': ({ subject }) => ['replacement', `${subject} ready`],
  'node-not-ready': ({ subject }) => ['node', `${subject} is NotReady`, 'warning'],
  'node-ready': ({ subject }) => ['node', `${subject} is Ready again`],
  'kubelet-started': () => ['kubelet', 'restarted', 'warning'],
};

function serviceText(slice: string, { endpoints }: Timeline): string {
  const service = endpoints.find((endpoint) => endpoint.slice === slice)?.service;
  return service === undefined ? `EndpointSlice ${slice}` : `Service ${service}`;
}

/** `sleep 4s`, `exec`; undefined if the container has no preStop hook. */
export function hookText(container: string, { pod }: Timeline): string | undefined {
  const spec = containerSpec(pod, container);
  const { kind, handler } = (spec && hookOf(spec)) ?? {};
  return kind === 'sleep' ? `sleep ${handler?.sleep?.seconds}s` : kind;
}

const hookEnds: Record<PreStopExit['outcome'], readonly [text: string, ink?: Ink]> = {
  completed: ['completed'],
  failed: ['failed', 'bad'],
  'cut-off': ['still running at the end of the grace period', 'bad'],
  unknown: ['ended (result unknown)'],
};

/** `exited 0`, `exited 143 (SIGTERM)`, `OOMKilled`, `exited 137`, `probably exited`, `still running`. */
export function exitText(container: Pick<ContainerTimeline, 'exit' | 'outcome' | 'stopSignal'>): string {
  const { exit, outcome } = container;
  if (outcome === 'abandoned') return 'left running';
  if (outcome === 'not-running') return 'not running';
  if (!exit) return outcome === 'unknown' ? 'its end was not observed' : 'still running';
  if (exit.code === undefined) return 'probably exited (its log stream closed)';
  if (outcome === 'oom') return 'OOMKilled';
  if (outcome === 'signalled') return `exited ${exit.code} (${signalOfExitCode(exit.code) ?? signalName(container)})`;
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

/** `2 other ready endpoints`. */
export const otherReady = (count: number): string =>
  count === 0 ? 'no other ready endpoints' : plural(count, 'other ready endpoint');

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
