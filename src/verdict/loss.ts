/** Requests lost, as probes measured them: how many, when, why, and what would have prevented the loss. Pure. */
import type { ContainerTimeline, FailureStretch, FailureWindow, ProbeResult, Timeline } from '../infer/timeline.ts';
import { lossProbes, lostBy } from '../infer/probes.ts';
import type { NotMeasuredReason, ProbeFailureKind } from '../model/probe-observation.ts';
import type { ProbeReport } from '../model/report.ts';
import { lengthText, secondsText } from './length-text.ts';
import { signalName } from './rule-input.ts';
import { byFrequency, list, plural, servicesNamed } from './words.ts';

type LossCause =
  /** Requests failed before the deletion began, so the deletion did not cause it. */
  | 'before-deletion'
  /** No other endpoint was ready between this pod and its replacement. */
  | 'no-ready-backend'
  /** Only the kept-alive connection failed. */
  | 'kept-connection-cut'
  /** The app accepted requests and did not answer them while it shut down. */
  | 'unanswered-while-draining'
  /** Requests still arrived after the app had stopped accepting them. */
  | 'sent-too-late'
  /** None of these fits the observations. */
  | 'unexplained';

interface Loss {
  readonly cause: LossCause;
  /** For `sent-too-late`: seconds of a preStop sleep that would have covered the loss, with a margin. */
  readonly preStopSeconds?: number;
  /** `3 of 412 requests failed from +0.4s to +0.9s (connection refused)`. */
  readonly what: string;
  /** The cause, as part of a sentence. */
  readonly why: string;
  /** What to change, a sentence without its full stop; absent if no change is known to help. */
  readonly advice?: string;
  /** `seq` of observations. */
  readonly evidence: readonly number[];
}

/** Undefined if no probe ran or none of its requests failed. */
export function lossOf(timeline: Timeline): Loss | undefined {
  const probes = lossProbes(timeline.probes);
  const { sent, failed } = lostBy(probes);
  const windows = probes.flatMap((probe) => probe.windows).sort((a, b) => a.start - b.start);
  const first = windows[0]?.start;
  if (first === undefined) return undefined;
  const stretches = windows.flatMap((window) => window.stretches);
  const last = Math.max(...windows.map(({ end }) => end));
  const moments = momentsOf(timeline);
  const sentAfterRemovalMs = last - (moments.unrouted ?? last);
  const context = { timeline, ...moments, probes, windows, stretches, first, last, sentAfterRemovalMs };
  const cause = causes.find(({ holds }) => holds(context));
  return {
    cause: cause?.name ?? 'unexplained',
    preStopSeconds: cause?.name === 'sent-too-late' ? preStopSecondsFor(sentAfterRemovalMs) : undefined,
    what: `${failed} of ${plural(sent, 'request')} failed ${spanText(timeline, first, last)} (${failuresText(stretches)})`,
    why: cause?.why(context) ?? 'nothing observed during the shutdown explains it',
    advice: cause?.advice?.(context),
    evidence: [...new Set(stretches.map(({ seq }) => seq))].slice(0, maxEvidence),
  };
}

/** `no loss measured (412 requests)`; undefined if no probe ran or requests were lost. */
export function noLossText(timeline: Timeline): string | undefined {
  const { sent, failed } = lostBy(timeline.probes);
  return sent === 0 || failed > 0 ? undefined : `no loss measured (${plural(sent, 'request')})`;
}

/**
 * One probe in a line: `412 sent · 3 failed from +0.4s to +0.9s (connection refused), while SIGTERM was due …`. `race`: the
 * clause of the finding drain-race.
 */
export function requestsText(timeline: Timeline, probe: ProbeResult, race?: string): string {
  const unmeasured = probe.notMeasured.map(({ reason, count }) => `${count} not measured (${reasonWords[reason]})`);
  return [...outcomeOf(timeline, probe, race), ...unmeasured, ...latencyText(probe.latencyMs)].join(' · ');
}

function outcomeOf(timeline: Timeline, probe: ProbeResult, race?: string): string[] {
  const { via, sent, failed, windows, answered, refusedBy } = probe;
  const count = `${sent} sent`;
  if (via === 'pod-proxy')
    return [
      count,
      answered ? `last answered at ${offsetText(timeline, answered.last)}` : 'none answered',
      ...(refusedBy ? [`connections refused from ${offsetText(timeline, refusedBy.at)}`] : []),
    ];
  const [firstWindow] = windows;
  if (!firstWindow) return [`no loss measured (${plural(sent, 'request')})`];
  const span = spanText(timeline, firstWindow.start, Math.max(...windows.map(({ end }) => end)));
  return [
    count,
    `${failed} failed ${span} (${failuresText(windows.flatMap(({ stretches }) => stretches))})${race === undefined ? '' : `, while ${race}`}`,
  ];
}

const latencyText = ({ before, during }: ProbeResult['latencyMs']): string[] =>
  before && during ? [`p99 ${Math.round(before.p99)} → ${Math.round(during.p99)} ms`] : [];

/** One probe of a run over several pods: `6030 sent · 14 failed (connection refused)`. */
export function rolloutRequestsText({ sent, failed, failures, latencyMs }: ProbeReport): string {
  const counts =
    failed === 0
      ? [`no loss measured (${plural(sent, 'request')})`]
      : [`${sent} sent`, `${failed} failed (${failuresText(failures)})`];
  return [...counts, ...latencyText(latencyMs)].join(' · ');
}

const reasonWords: Readonly<Record<NotMeasuredReason, string>> = {
  'no-local-port': 'no free port on this machine',
  'no-file-handle': 'no free file handle on this machine',
  'no-network': 'no network on this machine',
  'too-many-waiting': 'too many requests waited',
  standstill: 'podexit or its machine was paused',
  'api-server': 'the API server did not pass them on',
};

/** `app answered new requests until 2.9s after SIGTERM`; only a probe of the pod itself (`--probe pod`) measures this. */
export function servedText(container: ContainerTimeline): string | undefined {
  const { name, servedUntil, stopSignal } = container;
  if (!servedUntil || !stopSignal || stopSignal.provisional) return undefined;
  const signal = signalName(container);
  const min = servedUntil.earliest - stopSignal.latest;
  const max = servedUntil.latest - stopSignal.earliest;
  const shown = servedUntil.shown - stopSignal.shown;
  if (min > 0) return `${name} answered new requests until ${lengthText({ min, max, shown })} after ${signal}`;
  if (max >= 0) return undefined;
  return `${name} stopped answering ${lengthText({ min: -max, max: -min, shown: -shown })} before ${signal}`;
}

/** ms on the client's clock. */
interface Moments {
  /** The first removal from a Service's ready endpoints. */
  unrouted?: number;
  /** The first stop signal of a container. */
  signal?: number;
  /** The last exit of a container. */
  exit?: number;
  /** When the replacement became ready. */
  ready?: number;
}

interface LossContext extends Moments {
  timeline: Timeline;
  probes: readonly ProbeResult[];
  windows: readonly FailureWindow[];
  stretches: readonly FailureStretch[];
  /** When the first and the last request failed. */
  first: number;
  last: number;
  /** How long requests still failed after the pod was removed from its Services. */
  sentAfterRemovalMs: number;
}

interface CauseRow {
  name: LossCause;
  holds(context: LossContext): boolean;
  why(context: LossContext): string;
  advice?(context: LossContext): string;
}

/** Moments are estimates, so an effect may seem to come this much before its cause. */
const slackMs = 250;

const isAfterSignal = ({ first, signal = Infinity }: LossContext): boolean => first >= signal - slackMs;

/** The first cause that holds is reported. */
const causes: readonly CauseRow[] = [
  {
    name: 'before-deletion',
    holds: ({ timeline, last }) => last < timeline.zero,
    why: () => 'they failed before the deletion began',
  },
  {
    name: 'kept-connection-cut',
    // A client reconnects after one failure: more failures mean that nothing accepted the new connection.
    holds: ({ probes, windows }) =>
      probes.every((probe) => probe.new.failed === 0) &&
      probes.some(({ kept }) => (kept?.failed ?? 0) > 0) &&
      windows.every(({ failed }) => failed <= 2),
    why: () => 'the connection that clients keep was cut, while new connections were served',
    advice: () => 'answer with "Connection: close" (HTTP/2: GOAWAY) while draining, and close idle connections last',
  },
  {
    name: 'no-ready-backend',
    holds: (context) =>
      context.timeline.endpoints.length > 0 &&
      context.timeline.endpoints.every(({ otherReady }) => otherReady === 0) &&
      isAfterSignal(context) &&
      context.first <= (context.ready ?? Infinity) + slackMs,
    why: ({ timeline, ready }) =>
      `no other endpoint was ready${ready === undefined ? '' : ` until the replacement was, at ${offsetText(timeline, ready)}`}`,
    advice: () => 'run at least two replicas, and start the new pod before the old one is deleted (maxUnavailable: 0)',
  },
  {
    name: 'unanswered-while-draining',
    holds: (context) =>
      byFrequency(context.stretches.map(({ kind, count }) => [kind, count]))[0]?.[0] === 'timeout' &&
      isAfterSignal(context) &&
      context.first <= (context.exit ?? -Infinity),
    why: () => 'requests were accepted and not answered while the containers shut down',
    advice: () =>
      'answer what was accepted before the listening socket is closed, and let the preStop hook outlast new traffic',
  },
  {
    name: 'sent-too-late',
    holds: (context) => context.unrouted !== undefined && isAfterSignal(context),
    why: ({ timeline, stretches, sentAfterRemovalMs }) => {
      const who = stretches.some(({ kind }) => kind === 'http') ? 'a proxy, mesh or load balancer' : 'load balancers';
      const services = servicesNamed([...new Set(timeline.endpoints.flatMap(({ service }) => service ?? []))]);
      return `${who} kept sending for ${secondsText(sentAfterRemovalMs)} after removal from ${services}`;
    },
    advice: ({ sentAfterRemovalMs }) =>
      `load balancer kept sending for ${secondsText(sentAfterRemovalMs)} after removal: preStop sleep of at least ${preStopSecondsFor(sentAfterRemovalMs)}s`,
  },
];

function momentsOf({ containers, endpoints, replacement }: Timeline): Moments {
  const inOrder = (values: number[]): number[] => values.sort((a, b) => a - b);
  return {
    unrouted: inOrder(endpoints.flatMap(({ unroutedAt }) => unroutedAt?.shown ?? []))[0],
    signal: inOrder(containers.flatMap(({ stopSignal }) => stopSignal?.shown ?? []))[0],
    exit: inOrder(containers.flatMap(({ exit }) => exit?.at.shown ?? [])).at(-1),
    ready: replacement?.readyAt?.shown,
  };
}

/** One second more than measured, rounded up to the next 5 s. */
const preStopSecondsFor = (ms: number): number => Math.max(5, Math.ceil((ms / 1000 + 1) / 5) * 5);

const kindWords: Readonly<Record<ProbeFailureKind, string>> = {
  refused: 'connection refused',
  reset: 'connection reset',
  timeout: 'timed out',
  dns: 'name not resolved',
  tls: 'TLS failed',
  http: 'no valid answer',
};

/** The three most frequent kinds of failure. */
function failuresText(failures: readonly { kind: ProbeFailureKind; status?: number; count: number }[]): string {
  const counted = failures.map(
    ({ kind, status, count }) =>
      [kind === 'http' && status !== undefined ? `status ${status}` : kindWords[kind], count] as const,
  );
  const words = byFrequency(counted).map(([word]) => word);
  return list(words.slice(0, 3));
}

const spanText = (timeline: Timeline, from: number, to: number): string =>
  to - from < 50
    ? `at ${offsetText(timeline, from)}`
    : `from ${offsetText(timeline, from)} to ${offsetText(timeline, to)}`;

const offsetText = ({ zero }: Timeline, at: number): string =>
  `${at < zero ? '-' : '+'}${secondsText(Math.abs(at - zero))}`;

const maxEvidence = 20;
