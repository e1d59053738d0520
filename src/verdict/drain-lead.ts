/**
 * How long before its stop signal a serving container had left the endpoints of its Services, and who may have routed to it
 * unseen: no lead is proven by what was not watched. Pure.
 */
import type { ContainerTimeline, EndpointTimeline, Interval, Length } from '../infer/timeline.ts';
import { second } from '../model/span.ts';
import { lengthText, secondsText } from './length-text.ts';
import { markOf, servingContainers, wasForced, type RuleInput } from './rule-input.ts';
import type { EndpointExit } from '../infer/context.ts';
import type { Service } from '../model/kube.ts';
import type { StreamName } from '../model/observation.ts';
import type { Gate } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';

/** The removal of one endpoint, and one container that serves its Service. */
export interface DrainLead {
  readonly endpoint: EndpointTimeline;
  readonly container: ContainerTimeline;
  /** From the removal to the stop signal, ms; negative where the signal came first. */
  readonly lead: Length;
  /** It exited, or refused connections, less than a second after the removal. */
  readonly hard: boolean;
  readonly evidence: readonly number[];
}

/** Load balancers and proxies learn of a removal later than the API: less than this (ms) is no head start. */
export const headStart = second;

/** `0.02s after`, `at most 0.02s after`, `0.4s before`; `at most`: the signal may also have come at any time before. */
export function leadText({ min, max, shown }: Pick<Length, 'min' | 'max' | 'shown'>): string {
  if (max <= 0) return `${lengthText({ min: -max, max: -min, shown: -shown })} before`;
  if (!Number.isFinite(max)) return 'at an unknown time after';
  const text = min < 0 ? `≤${secondsText(max, max < 95 ? 2 : 1)}` : lengthText({ min, max, shown });
  return `${text.replace('≤', 'at most ')} after`;
}

/** Services, or slices without one, each once. */
export const serviceNames = (endpoints: readonly EndpointTimeline[]): string[] => [
  ...new Set(endpoints.map(({ service, slice }) => service ?? slice)),
];

/** Containers that load balancers may still have sent requests to when their signal came, the worst first. */
export function racesIn(input: RuleInput): DrainLead[] {
  // A forced deletion is a risk of its own (traffic.ts).
  if (wasForced(input.timeline)) return [];
  const isGone = input.trace.gone !== undefined;
  return drainLeads(input)
    .filter((lead) => isRace(lead, isGone))
    .sort((a, b) => Number(b.hard) - Number(a.hard) || a.lead.max - b.lead.max);
}

/** Nothing delayed the signal. An interval that may yet narrow is judged only once the pod is gone. */
const isRace = ({ lead, container }: DrainLead, isGone: boolean): boolean =>
  lead.max < headStart || (isGone && lead.min < headStart && !container.preStop && container.kind !== 'sidecar');

/** None where the removal or the signal was not seen. */
export const drainLeads = (input: RuleInput): DrainLead[] =>
  input.timeline.endpoints
    .filter(({ staysReady, wasReady }) => wasReady && !staysReady)
    .flatMap((endpoint) =>
      (servingContainers(input, endpoint.service) ?? []).flatMap((container) => leadOf(input, endpoint, container)),
    );

function leadOf(input: RuleInput, endpoint: EndpointTimeline, container: ContainerTimeline): DrainLead[] {
  const { unroutedAt } = endpoint;
  const call = signalCall(input, container);
  if (!unroutedAt || !call) return [];
  const min = call.earliest - unroutedAt.latest;
  const max = Math.max(min, call.latest - unroutedAt.earliest);
  const shown = Math.min(Math.max(call.shown - unroutedAt.shown, min), max);
  const hard = [container.exit?.at.latest, container.servedUntil?.latest, refusedBy(input, container)].some(
    (latest) => latest !== undefined && latest - unroutedAt.earliest < second,
  );
  const evidence = [...new Set([...unroutedAt.evidence, ...call.evidence])];
  return [{ endpoint, container, lead: { min, max, shown, basis: 'inferred' }, hard, evidence }];
}

/**
 * Without a hook, a turn or a second try the kubelet asks for the signal right when it starts (SIGNALS.md §2 S5): how long the runtime
 * takes after that is an assumption, and leaves no room for clients.
 */
function signalCall(input: RuleInput, container: ContainerTimeline): Interval | undefined {
  const { name, kind, preStop, stopSignal } = container;
  const tries = input.exit.containers.find(({ spec }) => spec.name === name)?.killings.length ?? 0;
  const signal = stopSignal && !stopSignal.provisional ? stopSignal : undefined;
  // While the pod is there a kubelet that restarts may yet show that it never got so far.
  const isLater = preStop !== undefined || kind === 'sidecar' || tries > 1 || !input.trace.gone;
  const call = isLater ? signal : (markOf(input.timeline, 'stopping', name)?.at ?? signal);
  if (!call) return undefined;
  const latest = Math.min(call.latest, signal?.latest ?? Infinity);
  return { ...call, latest, shown: Math.min(call.shown, latest) };
}

/** By when (ms) a readiness probe had found the port closed, after the deletion. */
function refusedBy({ trace, exit }: RuleInput, { name }: ContainerTimeline): number | undefined {
  const since = exit.deletion.accepted.client.lo;
  const stopping = exit.containers.find(({ spec }) => spec.name === name)?.stopping;
  const refused = trace.events.find(
    (event) =>
      event.reason === 'Unhealthy' &&
      event.about.container === name &&
      (event.time.lo >= (stopping?.node.lo ?? Infinity) ||
        exit.network.toClient('node', event.time, event.at + 1).lo >= since) &&
      event.message.includes('Readiness') &&
      event.message.includes('connection refused') &&
      !event.isOld &&
      event.count === 1,
  );
  return refused && refused.at + 1;
}

/** No endpoint seen is proof only where endpoints could be seen. */
export function withoutRoutes({ trace, exit }: RuleInput): Omit<Gate, 'name'> {
  const isBlind =
    // Before its own DELETE a run waits for them, or states a gap.
    (!trace.servicesKnown && trace.began?.value.mode === 'attach') ||
    trace.refused.some(({ value }) => routeStreams.has(value.stream)) ||
    trace.gaps.some(({ value }) => routeStreams.has(value.stream) && value.to === undefined);
  if (isBlind && exit.endpoints.length === 0) return { passed: false, message: 'endpoints could not be watched' };
  return { passed: true, message: 'no Service routes to this pod by its readiness' };
}

const routeStreams: ReadonlySet<StreamName> = new Set<StreamName>(['services', 'endpointslices']);

/**
 * Why it is not known who routed to the pod when its deletion was accepted. What was seen of endpoints afterwards is then
 * no more than what was left of them; where every Service that may follow readiness had still to unroute it, nothing is
 * missing.
 */
export function unseenRoutes(input: RuleInput): string | undefined {
  const { trace, exit } = input;
  const isLate = trace.deletion?.underWay === true;
  if ((!isLate && !isUnwatched(input)) || !mayHideRoutes(trace, exit.endpoints)) return undefined;
  return isLate
    ? 'attached too late: the pod was already terminating'
    : 'endpoints were not being watched when the pod was deleted';
}

/** The slices were not in sync, or could not be read, when the deletion was accepted. */
function isUnwatched({ trace, exit }: RuleInput): boolean {
  const { lo, hi } = exit.deletion.accepted.client;
  return (
    (trace.slicesSince ?? Infinity) > lo ||
    trace.refused.some(({ value, at }) => value.stream === 'endpointslices' && at <= hi) ||
    trace.gaps.some(
      ({ value: { stream, from, to = Infinity } }) => stream === 'endpointslices' && from <= hi && to >= lo,
    )
  );
}

/**
 * A Service with publishNotReadyAddresses does not depend on readiness. One without a selector has its endpoints managed
 * elsewhere (`kubernetes` in the namespace default): it counts only where no endpoint was seen.
 */
function mayHideRoutes(trace: Trace, endpoints: readonly EndpointExit[]): boolean {
  const isMissing = ({ metadata, spec }: Service): boolean =>
    spec.publishNotReadyAddresses !== true &&
    (endpoints.length === 0 || Object.keys(spec.selector ?? {}).length > 0) &&
    !endpoints.some(({ service }) => service === metadata.name);
  return endpoints.some((one) => !one.staysReady && !one.wasReady) || [...trace.services.values()].some(isMissing);
}
