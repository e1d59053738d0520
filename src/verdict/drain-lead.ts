/** How long before its stop signal a serving container left the ready endpoints; unwatched ones prove no lead. Pure. */
import type {
  ContainerTimeline,
  EndpointTimeline,
  Interval,
  Length,
  RoutedEndpoint,
  Timeline,
} from '../infer/timeline.ts';
import { second } from '../model/span.ts';
import { lengthText, outwards } from './length-text.ts';
import { servingContainers, wasForced, type RuleInput } from './rule-input.ts';
import type { Service } from '../model/kube.ts';
import { isRefused, lostSince, mayMiss, type Trace } from '../model/trace.ts';
import { servicesNamed } from './words.ts';

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
