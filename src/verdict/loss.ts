/** Requests lost, as probes measured them: how many, when, why, and what would have prevented the loss. Pure. */
import type { ContainerTimeline, Interval, Timeline } from '../infer/timeline.ts';
import { lossProbes, lostBy, type FailureWindow, type ProbeResult } from '../infer/probes.ts';
import type { NotMeasuredReason, ProbeFailureKind } from '../model/probe-observation.ts';
import type { ProbeReport } from '../model/report.ts';
import { second } from '../model/span.ts';
import words from './data/words.json' with { type: 'json' };
import { lengthText, secondsText, byFrequency, list, plural, servicesNamed } from './words.ts';
import { containerSpec, signalName } from './rule-input.ts';

export interface Loss {
  readonly cause:
    | 'before-deletion'
    | 'new-pods'
    | 'no-ready-backend'
    | 'kept-connection-cut'
    | 'unanswered-while-draining'
    | 'sent-too-late'
    | 'unexplained';
  /** For `sent-too-late`: seconds of a preStop sleep that would have covered the loss, with a margin. */
  readonly preStopSeconds?: number;
  /** `3 of 412 requests failed from +0.4s to +0.9s (connection refused)`. */
  readonly what: string;
  /** The cause, as part of a sentence. */
  readonly why: string;
  readonly evidence: readonly number[];
}

export function lossOf(timeline: Timeline): Loss | undefined {
  const probes = lossProbes(timeline.probes);
  const { sent, failed } = lostBy(probes);
  const windows = probes.flatMap((probe) => probe.windows).sort((a, b) => a.start - b.start);
  const first = windows[0]?.start;
  if (first === undefined) return undefined;
  const last = Math.max(...windows.map(({ end }) => end));
  const stretches = windows.flatMap((window) => window.stretches);
  return {
    ...causeOfLoss(timeline, probes, windows, { first, last }),
    what: `${failed} of ${plural(sent, 'request')} failed ${spanText(timeline, first, last)} (${failuresText(stretches)})`,
    evidence: [...new Set(stretches.map(({ seq }) => seq))].slice(0, 20),
  };
}

/** `first`, `last`: when the first and the last request failed, ms on the client's clock. */
function causeOfLoss(
  timeline: Timeline,
  probes: readonly ProbeResult[],
  windows: readonly FailureWindow[],
  { first, last }: Record<'first' | 'last', number>,
): Omit<Loss, 'what' | 'evidence'> {
  const { containers, endpoints, replacement, gaps } = timeline;
  const stretches = windows.flatMap((window) => window.stretches);
  if (last < timeline.zero) return { cause: 'before-deletion', why: 'they failed before the deletion began' };
  const cut = gaps.filter(({ cause, from, to = last }) => cause !== 'refused' && from <= last && to >= first);
  const streams = new Set(cut.flatMap(({ resource }) => (resource === 'pods/log' ? [] : resource)));
  if (streams.size > 2 && probes.every(({ via }) => via === 'service-proxy'))
    return { cause: 'unexplained', why: 'the API server, which forwards them, was out of reach' };
  const others = Math.max(0, ...probes.map(({ otherPods = 0 }) => otherPods));
  const isReplaced = others > 0 || (replacement?.readyAt?.latest ?? Infinity) <= first;
  // A container without a readiness probe is ready as soon as it runs. Only who listens resets a connection.
  const mayBeNew = isReplaced && stretches.some(({ kind }) => kind !== 'reset');
  if (mayBeNew && !containers.some(({ name }) => containerSpec(timeline.pod, name)?.readinessProbe))
    return { cause: 'new-pods', why: 'a new pod without a readiness probe may get requests too early' };
  if (first < timeline.zero) return { cause: 'unexplained', why: 'the first one failed before the pod was deleted' };
  const isOnlyKept =
    probes.every((probe) => probe.new.failed === 0) && probes.some(({ kept }) => (kept?.failed ?? 0) > 0);
  // A client reconnects after one failure: more failures mean that nothing accepted the new connection.
  if (isOnlyKept && windows.every(({ failed }) => failed <= 2))
    return { cause: 'kept-connection-cut', why: 'only connections that clients keep were cut' };
  const signal = Math.min(...containers.flatMap(({ stopSignal }) => stopSignal?.earliest ?? []));
  if (first < signal - slackMs) return unexplained;
  const ready = replacement?.readyAt?.shown;
  const hadNoBackend = endpoints.length > 0 && endpoints.every(({ otherReady }) => otherReady === 0);
  if (hadNoBackend && first <= (ready ?? Infinity) + slackMs)
    return {
      cause: 'no-ready-backend',
      why: `no other endpoint was ready${ready === undefined ? '' : ` until the replacement was, at ${offsetText(timeline, ready)}`}`,
    };
  const mostFrequent = byFrequency(stretches.map(({ kind, count }) => [kind, count]))[0]?.[0];
  if (mostFrequent === 'timeout' && first <= Math.max(...shownOf(containers.map(({ exit }) => exit?.at))))
    return { cause: 'unanswered-while-draining', why: 'requests got no answer while containers stopped' };
  // A load balancer that sends too late can cause neither.
  if (mostFrequent === 'dns' || mostFrequent === 'tls') return unexplained;
  const [unrouted] = shownOf(endpoints.map(({ unroutedAt }) => unroutedAt)).sort((a, b) => a - b);
  if (unrouted === undefined) return unexplained;
  // One second more than measured, rounded up to the next 5 s.
  const preStopSeconds = Math.max(5, Math.ceil(((last - unrouted) / 1000 + 1) / 5) * 5);
  const services = servicesNamed([...new Set(endpoints.flatMap(({ service }) => service ?? []))]);
  // A machine that is slow gets timeouts too.
  const sent = `load balancers ${mostFrequent === 'timeout' ? 'may have kept' : 'kept'} sending`;
  if (others > 0) return { cause: 'sent-too-late', why: `${sent} to pods removed from ${services}` };
  // A load balancer learns of it sooner or later.
  if (probes.some(({ failed, slices }) => failed > 0 && (slices.at(-1)?.to ?? Infinity) - last < second))
    return { cause: 'unexplained', why: 'requests still failed when the probe ended' };
  const late = last - unrouted < 100 ? 'until' : `for ${secondsText(last - unrouted)} after`;
  return { cause: 'sent-too-late', preStopSeconds, why: `${sent} ${late} removal from ${services}` };
}

const unexplained = { cause: 'unexplained', why: 'nothing observed during the shutdown explains it' } as const;

/** Moments are estimates, so an effect may seem to come this much before its cause. */
const slackMs = 250;

const shownOf = (intervals: readonly (Interval | undefined)[]): number[] =>
  intervals.flatMap((interval) => interval?.shown ?? []);

/** By the rule of three, n requests would have met a loss of 3/n with 95 %. Undefined if no probe ran or some failed. */
export function noLossText({ probes }: Timeline): string | undefined {
  const { sent, failed } = lostBy(probes);
  return sent === 0 || failed > 0 ? undefined : noneLost(sent);
}

const noneLost = (sent: number): string =>
  `no loss measured (${plural(sent, 'request')}: below ${Math.ceil(300 / sent)}% unproven)`;

/** `412 sent · 3 failed; app was asked to stop …`; of several probes, each with its target. `race`: drain-race's clause. */
export function requestsText(timeline: Timeline, probe: ProbeResult, race?: string): string {
  const unmeasured = probe.notMeasured.map(({ reason, count }) => `${count} not measured (${reasonWords[reason]})`);
  const name = timeline.probes.length > 1 ? `${probe.target}: ` : '';
  return name + [...outcomeOf(timeline, probe, race), ...unmeasured, ...latencyText(probe.latencyMs)].join(' · ');
}

export const worstProbes = (probes: readonly ProbeResult[], count: number): ProbeResult[] =>
  [...probes].sort((one, other) => lostBy([other]).failed - lostBy([one]).failed).slice(0, count);

function outcomeOf(timeline: Timeline, probe: ProbeResult, race?: string): string[] {
  const { via, sent, failed, windows, answered, refusedBy } = probe;
  const count = `${sent} sent`;
  if (via === 'pod-proxy')
    return [
      count,
      answered ? `last answered at ${offsetText(timeline, answered.last)}` : 'none answered',
      ...(refusedBy ? [`connections refused from ${offsetText(timeline, refusedBy.at)}`] : []),
    ];
  if (failed === 0) return [noneLost(sent)];
  if (failed === sent) return [count, noneSucceeded];
  const [starts, ends] = [windows.map(({ start }) => start), windows.map(({ end }) => end)];
  const span = spanText(timeline, Math.min(...starts), Math.max(...ends));
  const how = ` ${span} (${failuresText(windows.flatMap(({ stretches }) => stretches))})`;
  // Of a single probe, the traffic row says when and how its requests failed, if the deletion may have been the cause.
  const isSaid = lossProbes(timeline.probes).length === 1 && lossOf(timeline)?.cause !== 'before-deletion';
  return [count, `${failed} failed${isSaid ? '' : how}${race === undefined ? '' : `; ${race}`}`];
}

const latencyText = ({ before, during }: ProbeResult['latencyMs']): string[] =>
  before && during ? [`p99 ${Math.round(before.p99)} → ${Math.round(during.p99)} ms`] : [];

/** One probe of a run over several pods: `6030 sent · 14 failed (connection refused)`. */
export function rolloutRequestsText({ sent, failed, failures, latencyMs }: ProbeReport): string {
  const lost = `${failed === sent ? noneSucceeded : `${failed} failed`} (${failuresText(failures)})`;
  return [...(failed === 0 ? [noneLost(sent)] : [`${sent} sent`, lost]), ...latencyText(latencyMs)].join(' · ');
}

const noneSucceeded = 'none succeeded: is its address right?';

const reasonWords: Readonly<Record<NotMeasuredReason, string>> = words.notMeasured;

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

const kindWords: Readonly<Record<ProbeFailureKind, string>> = words.failedRequests;

type Failure = { readonly kind: ProbeFailureKind; readonly status?: number; readonly count: number };

function failuresText(failures: readonly Failure[]): string {
  const counted = byFrequency(failures.map((one) => [failureText(one), one.count]));
  return list(counted.slice(0, 3).map(([word]) => word));
}

/** The statuses of gRPC end at 16, those of HTTP begin at 100. */
const failureText = ({ kind, status }: Failure): string =>
  kind === 'http' && status !== undefined ? `${status < 100 ? 'gRPC ' : ''}status ${status}` : kindWords[kind];

const spanText = (timeline: Timeline, from: number, to: number): string =>
  to - from < 50
    ? `at ${offsetText(timeline, from)}`
    : `from ${offsetText(timeline, from)} to ${offsetText(timeline, to)}`;

const offsetText = ({ zero }: Timeline, at: number): string =>
  `${at < zero ? '-' : '+'}${secondsText(Math.abs(at - zero))}`;
