/** What probes say of the traffic: how many requests were lost, when, why, and what would have kept them. Pure. */
import type {
  ContainerTimeline,
  FailureStretch,
  FailureWindow,
  Length,
  ProbeResult,
  Timeline,
} from '../infer/timeline.ts';
import { lossProbes, lostBy } from '../infer/probes.ts';
import type { NotMeasuredReason, ProbeFailureKind } from '../model/probe-observation.ts';
import type { ProbeReport } from '../model/report.ts';
import { lengthText, secondsText } from './length-text.ts';
import { signalName } from './rule-input.ts';
import { list, plural, servicesNamed } from './words.ts';

export type LossCause =
  /** Before the deletion began: not its doing. */
  | 'before-deletion'
  /** No other endpoint was ready between this pod and its replacement. */
  | 'no-ready-backend'
  /** Only the kept connection failed. */
  | 'kept-connection-cut'
  /** The app took requests and did not answer them while it shut down. */
  | 'unanswered-while-draining'
  /** Traffic still came after the app had stopped to take it. */
  | 'sent-too-late'
  /** None of these fits what was seen. */
  | 'unexplained';

/** Numbers of a measured loss; ms on the client's clock. */
export interface Loss {
  readonly sent: number;
  readonly failed: number;
  readonly first: number;
  readonly last: number;
  readonly cause: LossCause;
  /** How long requests still failed after the pod was removed from its Services, ms. */
  readonly sentAfterRemovalMs?: number;
  /** What would have covered that, with a margin: seconds. */
  readonly preStopSeconds?: number;
  /** `3 of 412 requests failed from +0.4s to +0.9s (connection refused)`. */
  readonly what: string;
  /** Why, in half a sentence. */
  readonly why: string;
  /** What to change, in a sentence without a full stop; none where nothing is known to help. */
  readonly advice?: string;
  /** `seq` of observations. */
  readonly evidence: readonly number[];
}

/** Undefined where no probe ran, or none of its requests failed. */
export function lossOf(timeline: Timeline): Loss | undefined {
  const probes = lossProbes(timeline.probes);
  const { sent, failed } = lostBy(probes);
  const windows = probes.flatMap((probe) => probe.windows).sort((one, other) => one.start - other.start);
  const [begin] = windows;
  if (!begin) return undefined;
  const last = Math.max(...windows.map(({ end }) => end));
  const moments = momentsOf(timeline);
  const about = { timeline, moments, probes, windows, first: begin.start, last };
  const cause = causes.find(({ holds }) => holds(about));
  const sentAfterRemovalMs = cause?.name === 'sent-too-late' ? last - (moments.unrouted ?? last) : undefined;
  const evidence = [...new Set(windows.flatMap(({ stretches }) => stretches.map(({ seq }) => seq)))].slice(
    0,
    mostEvidence,
  );
  const preStopSeconds = sentAfterRemovalMs === undefined ? undefined : preStopFor(sentAfterRemovalMs);
  const said = { ...about, sentAfterRemovalMs, preStopSeconds };
  return {
    sent,
    failed,
    first: begin.start,
    last,
    cause: cause?.name ?? 'unexplained',
    sentAfterRemovalMs,
    preStopSeconds,
    what: `${failed} of ${plural(sent, 'request')} failed ${spanText(timeline, begin.start, last)} (${kindsText(windows)})`,
    why: cause?.why(said) ?? 'nothing that was seen of the shutdown explains it',
    advice: cause?.advice?.(said),
    evidence,
  };
}

/** `no loss measured (412 requests)`; undefined where no probe ran, or requests were lost. */
export function noLossText(timeline: Timeline): string | undefined {
  const { sent, failed } = lostBy(timeline.probes);
  return sent === 0 || failed > 0 ? undefined : `no loss measured (${plural(sent, 'request')})`;
}

/**
 * One probe in a line: `412 sent · 3 failed from +0.4s to +0.9s (connection refused), while SIGTERM came …`. `race`: what the
 * finding drain-race says.
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
  const [begin] = windows;
  if (!begin) return [`no loss measured (${plural(sent, 'request')})`];
  const span = spanText(timeline, begin.start, Math.max(...windows.map(({ end }) => end)));
  return [count, `${failed} failed ${span} (${kindsText(windows)})${race === undefined ? '' : `, while ${race}`}`];
}

const latencyText = ({ before, during }: ProbeResult['latencyMs']): string[] =>
  before && during ? [`p99 ${Math.round(before.p99)} → ${Math.round(during.p99)} ms`] : [];

/** One probe of a run over several pods: `6030 sent · 14 failed (connection refused)`. */
export function rolloutRequestsText({ sent, failed, failures, latencyMs }: ProbeReport): string {
  const counts =
    failed === 0
      ? [`no loss measured (${plural(sent, 'request')})`]
      : [`${sent} sent`, `${failed} failed (${wordsOf(failures)})`];
  return [...counts, ...latencyText(latencyMs)].join(' · ');
}

const reasonWords: Readonly<Record<NotMeasuredReason, string>> = {
  'no-local-port': 'no free port on this machine',
  'no-file-handle': 'no free file handle on this machine',
  'no-network': 'no network on this machine',
  'too-many-waiting': 'too many requests waited',
  standstill: 'podexit or its machine stood still',
  'api-server': 'the API server did not pass them on',
};

/** How long a container took new requests after its stop signal; negative where it had stopped before. Only a probe of `pod` can say. */
function servedAfterSignal({ servedUntil, stopSignal }: ContainerTimeline): Length | undefined {
  if (!servedUntil || !stopSignal || stopSignal.provisional) return undefined;
  return {
    min: servedUntil.earliest - stopSignal.latest,
    max: servedUntil.latest - stopSignal.earliest,
    shown: servedUntil.shown - stopSignal.shown,
    basis: 'inferred',
  };
}

/** `app answered new requests until 2.9s after SIGTERM`. */
export function servedText(container: ContainerTimeline): string | undefined {
  const after = servedAfterSignal(container);
  const signal = signalName(container);
  if (after && after.min > 0)
    return `${container.name} answered new requests until ${lengthText(after)} after ${signal}`;
  if (!after || after.max >= 0) return undefined;
  const before = { min: -after.max, max: -after.min, shown: -after.shown };
  return `${container.name} stopped answering ${lengthText(before)} before ${signal}`;
}

interface Moments {
  /** The first removal from a Service's ready endpoints. */
  unrouted?: number;
  /** The first stop signal of a container. */
  signal?: number;
  /** The last exit of a container. */
  exit?: number;
  ready?: number;
}

interface About {
  timeline: Timeline;
  moments: Moments;
  probes: readonly ProbeResult[];
  windows: readonly FailureWindow[];
  first: number;
  last: number;
}

interface Said extends About {
  sentAfterRemovalMs?: number;
  preStopSeconds?: number;
}

interface CauseRow {
  name: LossCause;
  holds(about: About): boolean;
  why(said: Said): string;
  advice?(said: Said): string | undefined;
}

/** ms: how much earlier than a moment its effect may seem to come, since moments are estimates. */
const slackMs = 250;

/** The first that holds. */
const causes: readonly CauseRow[] = [
  {
    name: 'before-deletion',
    holds: ({ timeline, last }) => last < timeline.zero,
    why: () => 'they failed before the deletion began',
  },
  {
    name: 'kept-connection-cut',
    // It is opened again after one failure: where more follow, nobody was there to take it.
    holds: ({ probes, windows }) =>
      probes.every((one) => one.new.failed === 0) &&
      probes.some((one) => (one.kept?.failed ?? 0) > 0) &&
      windows.every(({ failed }) => failed <= 2),
    why: () => 'the connection that clients keep was cut, while new connections were served',
    advice: () => 'answer with "Connection: close" (HTTP/2: GOAWAY) while draining, and close idle connections last',
  },
  {
    name: 'no-ready-backend',
    holds: ({ timeline, moments, first }) =>
      timeline.endpoints.length > 0 &&
      timeline.endpoints.every(({ otherReady }) => otherReady === 0) &&
      first >= (moments.signal ?? Infinity) - slackMs &&
      (moments.ready === undefined || first <= moments.ready + slackMs),
    why: ({ timeline, moments }) =>
      `no other endpoint was ready${moments.ready === undefined ? '' : ` until the replacement was, at ${offsetText(timeline, moments.ready)}`}`,
    advice: () => 'run at least two replicas, and start the new pod before the old one is deleted (maxUnavailable: 0)',
  },
  {
    name: 'unanswered-while-draining',
    holds: ({ windows, moments, first }) =>
      mostOf(windows) === 'timeout' &&
      first >= (moments.signal ?? Infinity) - slackMs &&
      first <= (moments.exit ?? -Infinity),
    why: () => 'requests were accepted and not answered while the containers shut down',
    advice: () =>
      'answer what was accepted before the listening socket is closed, and let the preStop hook outlast new traffic',
  },
  {
    name: 'sent-too-late',
    holds: ({ moments, first }) => moments.unrouted !== undefined && first >= (moments.signal ?? Infinity) - slackMs,
    why: ({ timeline, windows, sentAfterRemovalMs = 0 }) => {
      const proxied = windows.some(({ stretches }) => stretches.some(({ kind }) => kind === 'http'));
      const who = proxied ? 'a proxy, mesh or load balancer' : 'load balancers';
      const services = servicesNamed([...new Set(timeline.endpoints.flatMap(({ service }) => service ?? []))]);
      return `${who} kept sending for ${secondsText(sentAfterRemovalMs)} after removal from ${services}`;
    },
    advice: ({ sentAfterRemovalMs = 0, preStopSeconds }) =>
      `load balancer kept sending for ${secondsText(sentAfterRemovalMs)} after removal: preStop sleep of at least ${preStopSeconds}s`,
  },
];

function momentsOf({ containers, endpoints, replacement }: Timeline): Moments {
  const signals = containers.flatMap(({ stopSignal }) => stopSignal?.shown ?? []);
  const exits = containers.flatMap(({ exit }) => exit?.at.shown ?? []);
  const unrouted = endpoints.flatMap(({ unroutedAt }) => unroutedAt?.shown ?? []);
  return {
    unrouted: unrouted.length === 0 ? undefined : Math.min(...unrouted),
    signal: signals.length === 0 ? undefined : Math.min(...signals),
    exit: exits.length === 0 ? undefined : Math.max(...exits),
    ready: replacement?.readyAt?.shown,
  };
}

/** The next five seconds above what was measured and one more. */
const preStopFor = (ms: number): number => Math.max(5, Math.ceil((ms / 1000 + 1) / 5) * 5);

const kindWords: Readonly<Record<ProbeFailureKind, string>> = {
  refused: 'connection refused',
  reset: 'connection reset',
  timeout: 'timed out',
  dns: 'name not resolved',
  tls: 'TLS failed',
  http: 'no valid answer',
};

const kindsText = (windows: readonly FailureWindow[]): string => wordsOf(windows.flatMap(({ stretches }) => stretches));

/** The most frequent first, at most three. */
function wordsOf(failures: ProbeReport['failures'] | readonly FailureStretch[]): string {
  const counts = new Map<string, number>();
  for (const { kind, status, count } of failures) {
    const words = kind === 'http' && status !== undefined ? `status ${status}` : kindWords[kind];
    counts.set(words, (counts.get(words) ?? 0) + count);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one).map(([words]) => words);
  return list(sorted.slice(0, 3));
}

function mostOf(windows: readonly FailureWindow[]): ProbeFailureKind | undefined {
  const counts = new Map<ProbeFailureKind, number>();
  for (const { kind, count } of windows.flatMap(({ stretches }) => stretches))
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}

const spanText = (timeline: Timeline, from: number, to: number): string =>
  to - from < 50
    ? `at ${offsetText(timeline, from)}`
    : `from ${offsetText(timeline, from)} to ${offsetText(timeline, to)}`;

const offsetText = ({ zero }: Timeline, at: number): string =>
  `${at < zero ? '-' : '+'}${secondsText(Math.abs(at - zero))}`;

const mostEvidence = 20;
