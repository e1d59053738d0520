/**
 * Where Services routed requests meanwhile: how long before its stop signal a serving container had left the ready endpoints
 * (unwatched ones prove no lead), and when a Service that had a ready endpoint had none, by arrivals. Pure.
 */
import type {
  ContainerTimeline,
  EndpointTimeline,
  Interval,
  Length,
  RoutedEndpoint,
  Timeline,
} from '../infer/timeline.ts';
import { second } from '../model/span.ts';
import { lengthText, outwards, servicesNamed } from './words.ts';
import { servingContainers, wasForced, type RuleInput } from './rule-input.ts';
import type { Service } from '../model/kube.ts';
import { isRefused, lostSince, mayMiss, type Trace, type SliceState } from '../model/trace.ts';
import { deliverableSince } from '../infer/arrival.ts';

/** Load balancers and proxies learn of a removal later than the API: a shorter lead gives them no time to react. */
export const minLeadMs = second;

/** `0.02s after`, `within 0.02s of`, `0.4s before`; `within`: the signal may also have come before the removal. */
export function leadText({ min, max, shown }: Length): string {
  if (max <= 0) return `${lengthText({ min: -max, max: -min, shown: -shown })} before`;
  if (!Number.isFinite(max)) return 'at an unknown time after';
  const text = min < 0 ? `≤${outwards(max, Math.ceil)}` : lengthText({ min, max, shown });
  return text.startsWith('≤') ? `within ${text.slice(1)} of` : `${text} after`;
}

const serviceOf = ({ service, slice }: RoutedEndpoint): string => service ?? slice;

export const serviceNames = (endpoints: readonly RoutedEndpoint[]): string[] => [...new Set(endpoints.map(serviceOf))];

/** The endpoints of each Service; those without one by their slice. */
export const byService = (endpoints: readonly EndpointTimeline[]): { service: string; own: EndpointTimeline[] }[] =>
  serviceNames(endpoints).map((service) => ({ service, own: endpoints.filter((one) => serviceOf(one) === service) }));

/** The worst lead that was too short, or may have been: `app was asked to stop 0.02s after removal from Service web`. */
export function drainRace(input: RuleInput) {
  // traffic.ts reports a forced deletion as a risk by itself.
  if (wasForced(input.timeline)) return undefined;
  const isGone = input.trace.gone !== undefined;
  // It is too short; or may be, if nothing delayed the signal and, with the pod gone, the interval cannot narrow.
  const races = drainLeads(input).filter(
    ({ lead, container: { preStop, kind } }) =>
      lead.max < minLeadMs || (isGone && lead.min < minLeadMs && !preStop && kind !== 'sidecar'),
  );
  const [worst] = races.sort((a, b) => Number(b.stoppedAtOnce) - Number(a.stoppedAtOnce) || a.lead.max - b.lead.max);
  const services = servicesNamed(serviceNames(races.map(({ endpoint }) => endpoint)));
  if (!worst) return undefined;
  const text = `${worst.container.name} was asked to stop ${leadText(worst.lead)} removal from ${services}`;
  return { ...worst, text };
}

/** The deletion made it unready: traffic to it followed its readiness. */
export const isRouted = ({ staysReady, wasReady }: Pick<EndpointTimeline, 'staysReady' | 'wasReady'>): boolean =>
  wasReady && !staysReady;

/** Endpoints that the deletion removed, and those removed before for another reason, however shortly. */
export const routedEndpoints = ({ endpoints, unroutedBefore }: Timeline): RoutedEndpoint[] => [
  ...endpoints.filter(isRouted),
  ...unroutedBefore,
];

/** Leads of all pairs of an endpoint and a container, except where the removal or the signal was not observed. */
export const drainLeads = (input: RuleInput) =>
  routedEndpoints(input.timeline).flatMap((endpoint) =>
    (servingContainers(input, endpoint.service) ?? []).flatMap((container) => leadOf(input, endpoint, container)),
  );

/**
 * `lead`: from the removal to the stop signal, ms; negative if the signal came first. `stoppedAtOnce`: the container exited,
 * or refused connections, less than a second after the removal.
 */
function leadOf(input: RuleInput, endpoint: RoutedEndpoint, container: ContainerTimeline) {
  const { unroutedAt } = endpoint;
  const call = stopRequestedAt(input, container);
  if (!unroutedAt || !call) return [];
  const min = call.earliest - unroutedAt.latest;
  const max = Math.max(min, call.latest - unroutedAt.earliest);
  const shown = Math.min(Math.max(call.shown - unroutedAt.shown, min), max);
  const stoppedAtOnce = [container.exit?.at.latest, container.servedUntil?.latest].some(
    (latest) => latest !== undefined && latest - unroutedAt.earliest < second,
  );
  const evidence = [unroutedAt.evidence, call.evidence];
  return [{ endpoint, container, lead: { min, max, shown }, stoppedAtOnce, evidence }];
}

/**
 * When the kubelet asked the runtime to stop the container. Without a preStop hook, a sidecar turn or a second attempt it
 * asks as soon as it starts termination (SIGNALS.md §2 S5). The runtime's own delay is only assumed: it is no lead.
 */
function stopRequestedAt(input: RuleInput, container: ContainerTimeline): Interval | undefined {
  const { kind, preStop, stopping, stopSignal, killings } = container;
  const signal = stopSignal && !stopSignal.provisional ? stopSignal : undefined;
  // Until the pod is gone, a restarted kubelet may still show that this attempt never reached the signal.
  const isDelayed = preStop !== undefined || kind === 'sidecar' || killings.length > 1 || !input.trace.gone;
  const call = isDelayed ? signal : (stopping ?? signal);
  if (!call) return undefined;
  const latest = Math.min(call.latest, signal?.latest ?? Infinity);
  return { ...call, latest, shown: Math.min(call.shown, latest) };
}

/**
 * Why it is unknown which Services routed to the pod when its deletion was accepted; undefined if it is known. Endpoints
 * seen later are what was left by then: none is missing if every Service that depends on readiness had the pod ready.
 */
export function whyEndpointsUnknown(input: RuleInput): string | undefined {
  const { trace, timeline } = input;
  const isBlind =
    // Only with --attach: before its own DELETE, a run waits for the Services or records a gap.
    (!trace.servicesKnown && trace.began?.value.mode === 'attach') ||
    (['services', 'endpointslices'] as const).some(
      (stream) => isRefused(trace, stream) || lostSince(trace, stream) < Infinity,
    );
  if (isBlind && timeline.endpoints.length === 0) return 'endpoints could not be watched';
  const isLate = trace.deletion?.underWay === true;
  const { client } = input.deletion.accepted;
  const isUnwatched = (trace.slicesSince ?? Infinity) > client.lo || mayMiss(trace, 'endpointslices', client);
  if ((!isLate && !isUnwatched) || !mayMissEndpoints(trace, timeline.endpoints)) return undefined;
  return isLate
    ? 'attached too late: the pod was already terminating'
    : 'endpoints were not being watched when the pod was deleted';
}

/**
 * A Service with publishNotReadyAddresses does not depend on readiness. A Service without a selector has its endpoints
 * managed elsewhere (`kubernetes` in the namespace default): it counts only if no endpoint was seen.
 */
function mayMissEndpoints(trace: Trace, endpoints: readonly EndpointTimeline[]): boolean {
  const isMissing = ({ metadata, spec }: Service): boolean =>
    spec.publishNotReadyAddresses !== true &&
    (endpoints.length === 0 || Object.keys(spec.selector ?? {}).length > 0) &&
    !endpoints.some(({ service }) => service === metadata.name);
  const services = [...trace.services.values()];
  return endpoints.some(({ staysReady, wasReady }) => !staysReady && !wasReady) || services.some(isMissing);
}

interface Period {
  readonly from: number;
  readonly to: number;
  /** `missed`: the stream was cut or late, so the period may have been longer; `open`: it lasted until the trace ended. */
  readonly end: 'seen' | 'missed' | 'open';
  readonly evidence: number[];
}

export const periodLength = ({ ms, end }: { readonly ms: number; readonly end: Period['end'] }) => ({
  min: ms,
  max: end === 'seen' ? ms : Infinity,
  shown: ms,
});

/** The longest such period of each Service. */
export function noReadyPeriods({ trace, deletion, timeline }: RuleInput) {
  const own = [...trace.slices.values()].filter(({ states }) => states.some((state) => state.value.own));
  const services = new Set(own.flatMap((facts) => facts.service ?? []));
  const lastMark = Math.max(...timeline.marks.map(({ at }) => at.latest));
  // What comes soon after the last mark is not printed.
  const until = Math.min(trace.lastReceivedAt, lastMark + second > trace.lastReceivedAt ? lastMark : Infinity);
  return [...services].flatMap((service) => {
    const periods = periodsOf(trace, service, until)
      .filter(({ to }) => to > deletion.accepted.client.lo)
      .map(({ from, to, end, evidence }) => ({ service, ms: to - from, end, evidence }))
      // One sync writes several slices one after another: a shorter period may be only the time between them.
      .filter(({ ms, end }) => end === 'open' || ms >= 100);
    return periods.sort((a, b) => b.ms - a.ms).slice(0, 1);
  });
}

function periodsOf(trace: Trace, service: string, until: number): Period[] {
  const changes = [...trace.slices]
    .filter(([, facts]) => facts.service === service)
    .flatMap(([name, facts]) => facts.states.map((state) => ({ name, state })))
    .sort((a, b) => a.state.seq - b.state.seq);
  const current = new Map<string, SliceState>();
  const ended: Period[] = [];
  let last: Period | undefined;
  let hadReady = false;
  for (const { name, state } of changes) {
    current.set(name, state.value);
    const isDeleted = state.value.deleted === true;
    const isReady = [...current.values()].some(({ otherReady, own }) => otherReady > 0 || own?.ready);
    if (last && (isReady || isDeleted)) {
      // The earliest possible time of the change; on a live stream, its arrival.
      const deliverable = deliverableSince(trace, 'endpointslices', state.at);
      const end = deliverable === state.at ? 'seen' : 'missed';
      ended.push({ ...last, to: deliverable, end, evidence: [...last.evidence, state.seq] });
      last = undefined;
    } else if (!isReady && hadReady && !last && !isDeleted) {
      const to = until > state.at ? until : trace.lastReceivedAt;
      last = { from: state.at, to, end: 'open', evidence: [state.seq] };
    }
    hadReady = isReady || (hadReady && !isDeleted);
  }
  return [...ended, ...(last ? [last] : [])].map((period) => untilGap(trace, period));
}

/** Whatever a gap of the stream hides: before the gap began, no endpoint was ready. */
function untilGap({ gaps }: Trace, period: Period): Period {
  const later = gaps.filter(({ value: { stream, from } }) => stream === 'endpointslices' && from > period.from);
  const gapStart = Math.min(...later.map(({ value }) => value.from));
  return gapStart < period.to ? { ...period, to: gapStart, end: 'missed' } : period;
}
