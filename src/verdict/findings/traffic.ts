/** Findings about the Services that route to the pod. */
import type { EndpointTimeline } from '../../infer/timeline.ts';
import { millisecondsOf } from '../../model/assumptions.ts';
import { mayMiss, type Trace } from '../../model/trace.ts';
import { byService, drainRace, isRouted, minLeadMs, serviceNames, noReadyPeriods, periodLength } from '../routing.ts';
import type { Rules } from '../finding.ts';
import { lengthText, secondsText, servicesNamed } from '../words.ts';
import { lossOf, servedText } from '../loss.ts';
import {
  needsNoReplacement,
  isCascade,
  mainContainers,
  servingContainers,
  signalName,
  type RuleInput,
} from '../rule-input.ts';

export const trafficRules: Rules = {
  /** Requests that a probe lost, except before the deletion, which did not cause those. */
  'requests-lost': ({ timeline }) => {
    const loss = lossOf(timeline);
    if (!loss || loss.cause === 'before-deletion') return undefined;
    const mains = mainContainers(timeline);
    return {
      severity: 'error',
      container: mains.length === 1 ? mains[0]?.name : undefined,
      message: `${loss.what}: ${loss.why}`,
      clause: loss.what,
      why: loss.why,
      evidence: loss.evidence,
    };
  },

  /** The stop signal came before the removal, or too soon after it. */
  'drain-race': (input) => {
    const race = drainRace(input);
    if (!race) return undefined;
    const { container, lead, stoppedAtOnce, evidence, text } = race;
    const lost = stoppedAtOnce
      ? `${container.name} was gone or refused connections less than 1s later`
      : servedText(container);
    const ignoresSignal = container.reaction === 'none' && container.outcome === 'killed';
    // Not certain if the lead may have been long enough.
    const arrived = lead.max < minLeadMs ? 'arrived' : 'may have arrived';
    return {
      severity: stoppedAtOnce ? 'warning' : 'info',
      container: container.name,
      message: `${signalName(container)} ${arrived} before load balancers could stop sending traffic to it: ${text}${lost === undefined ? '' : `; ${lost}`}`,
      clause: ignoresSignal
        ? `SIGKILL cut off any request still open, as ${container.name} did not react to ${signalName(container)}`
        : `${container.preStop ? '' : 'no preStop, and '}${text}`,
      evidence,
    };
  },

  'last-endpoint': ({ trace, timeline }) => {
    if (needsNoReplacement(timeline)) return undefined;
    const lastOnes = timeline.endpoints.filter(({ unroutedAt, otherReady }) => unroutedAt && otherReady === 0);
    return byService(lastOnes).map(({ service, own }) => {
      const clause = `Service ${service} had no other ready ${familyWord(trace, service, own)}endpoint`;
      return {
        message: `${clause} when the pod was removed from it`,
        clause,
        evidence: own.map(({ unroutedAt, counted }) => [unroutedAt?.evidence, counted]),
      };
    });
  },

  'no-ready-endpoint': (input) => {
    const { timeline } = input;
    const isWholeWorkload = isCascade(timeline);
    if (needsNoReplacement(timeline) && !isWholeWorkload) return undefined;
    return noReadyPeriods(input).map(({ service, ms, end, evidence }) => {
      const clause = `Service ${service} had no ready endpoint for ${lengthText(periodLength({ ms, end }))}`;
      return {
        severity: isWholeWorkload ? 'info' : 'warning',
        message: `${clause}${end === 'open' ? ', and still had none when the trace ended' : ''}`,
        clause,
        advice: isWholeWorkload
          ? 'Expected: the whole workload was deleted.'
          : 'New connections had no ready backend meanwhile.',
        evidence,
      };
    });
  },

  'stays-ready': ({ timeline }) =>
    byService(timeline.endpoints.filter(stayedReady)).map(({ service, own }) => ({
      severity: 'info',
      message: `Service ${service} sets publishNotReadyAddresses: it sent traffic to the pod until the endpoint was removed`,
      clause: `Service ${service} kept it ready (publishNotReadyAddresses)`,
      advice: 'Keep publishNotReadyAddresses for peer discovery, and let clients use another Service.',
      evidence: own.map(({ counted, removedAt }) => [counted, removedAt?.evidence]),
    })),

  /** The serving container had ended while its endpoint was still ready: the endpoint controller did not act. */
  'endpoint-not-removed': (input) => {
    const { trace, timeline } = input;
    const wasCut = trace.resumes.some(({ value }) => value.stream === 'endpointslices');
    if (wasCut || mayMiss(trace, 'endpointslices')) return undefined;
    const notRemoved = timeline.endpoints.flatMap((endpoint) => {
      const ended = endOfServing(input, endpoint);
      const { unroutedAt } = endpoint;
      if (!isRouted(endpoint) || ended === undefined) return [];
      const stayed = (unroutedAt?.earliest ?? trace.now) - ended;
      return stayed > (unroutedAt ? 0 : millisecondsOf('delivery-lag')) ? [{ endpoint, stayed }] : [];
    });
    const [longest] = notRemoved.sort((a, b) => b.stayed - a.stayed);
    if (!longest) return undefined;
    const endpoints = notRemoved.map(({ endpoint }) => endpoint);
    const isOpen = !longest.endpoint.unroutedAt;
    const length = isOpen ? '' : `for at least ${secondsText(longest.stayed)} `;
    const clause = `${servicesNamed(serviceNames(endpoints))} kept the pod ready ${length}after its container had ended`;
    return {
      message: isOpen ? `${clause}, and still did when the trace ended` : clause,
      clause,
      why: 'the endpoint controller did not act',
      advice:
        'Look at kube-controller-manager (or whatever manages the EndpointSlice): clients could still be sent to a pod that could not answer.',
      evidence: endpoints.map(({ counted, unroutedAt }) => [counted, unroutedAt?.evidence]),
    };
  },
};

/** The address type, if the Service has others too: each slice has endpoints of only one (SIGNALS.md §3). */
function familyWord(trace: Trace, service: string, endpoints: readonly EndpointTimeline[]): string {
  const slices = [...trace.slices.values()].filter((facts) => (facts.service ?? facts.slice.metadata.name) === service);
  const allTypes = new Set(slices.map(({ slice }) => slice.addressType));
  const ownTypes = new Set(endpoints.map(({ addressType }) => addressType));
  return ownTypes.size < allTypes.size ? `${[...ownTypes].join(' or ')} ` : '';
}

/** With publishNotReadyAddresses: the endpoint was ready until its removal, if it was removed at all. */
const stayedReady = ({ staysReady, wasReady, unroutedAt, removedAt, counted }: EndpointTimeline): boolean =>
  staysReady && wasReady && (!unroutedAt || counted.some((seq) => removedAt?.evidence.includes(seq)));

/** ms by which all containers that serve the endpoint's Service had ended; undefined if that is not certain. */
function endOfServing(input: RuleInput, { service }: EndpointTimeline): number | undefined {
  const serving = servingContainers(input, service) ?? mainContainers(input.timeline);
  const last = Math.max(...serving.map(({ exit }) => (exit?.code === undefined ? Infinity : exit.at.latest)));
  return Number.isFinite(last) ? last : undefined;
}
