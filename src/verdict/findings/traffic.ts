/** Findings about the Services that route to the pod. */
import type { EndpointTimeline, Timeline } from '../../infer/timeline.ts';
import { millisecondsOf } from '../../model/assumptions.ts';
import type { Trace } from '../../model/trace.ts';
import { headStart, leadText, racesIn, serviceNames, type DrainLead } from '../drain-lead.ts';
import { emptySpells } from '../empty-spells.ts';
import type { Rule } from '../finding.ts';
import { lengthText, secondsText } from '../length-text.ts';
import { lossOf, servedText } from '../loss.ts';
import { isMeantToGo, isWholeDeletion, mainsIn, servingContainers, signalName, type RuleInput } from '../rule-input.ts';
import { servicesNamed } from '../words.ts';

/** What a probe measured, before the deletion began excepted: that was not its doing. */
const requestsLost: Rule = ({ timeline }) => {
  const loss = lossOf(timeline);
  if (!loss || loss.cause === 'before-deletion') return undefined;
  const mains = mainsIn(timeline);
  return {
    code: 'requests-lost',
    severity: 'error',
    container: mains.length === 1 ? mains[0]?.name : undefined,
    message: `${loss.what}: ${loss.why}`,
    clause: loss.what,
    why: loss.why,
    advice: loss.advice,
    evidence: [...loss.evidence],
  };
};

const ofService = (endpoints: readonly EndpointTimeline[], name: string): EndpointTimeline[] =>
  endpoints.filter(({ service, slice }) => (service ?? slice) === name);

/** The stop signal came less than a head start after the removal, or before it. */
const drainRace: Rule = (input) => {
  const races = racesIn(input);
  const [worst] = races;
  if (!worst) return undefined;
  const { container, hard, evidence } = worst;
  const services = servicesNamed(serviceNames(races.map(({ endpoint }) => endpoint)));
  const lost = hard ? `${container.name} was gone or refused connections less than 1s later` : servedText(container);
  const came = `${leadText(worst.lead)} removal from ${services}`;
  return {
    code: 'drain-race',
    severity: hard ? 'warning' : 'info',
    container: container.name,
    message: `${signalName(container)} arrived ${isCertain(worst) ? '' : 'perhaps '}before load balancers could stop sending traffic to ${container.name}: ${came}${lost === undefined ? '' : `; ${lost}`}`,
    clause: `${signalName(container)} came ${came}${container.preStop ? '' : ', no preStop hook'}`,
    advice:
      'Add a preStop sleep, so that the application keeps serving until load balancers know, and raise terminationGracePeriodSeconds by as much.',
    evidence: [...evidence],
  };
};

/** A lead that may have been a second is enough for some load balancers. */
const isCertain = ({ lead }: DrainLead): boolean => lead.max < headStart;

const lastEndpoint: Rule = ({ trace, timeline }) => {
  if (isMeantToGo(timeline)) return undefined;
  const alone = timeline.endpoints.filter(({ unroutedAt, otherReady }) => unroutedAt && otherReady === 0);
  return serviceNames(alone).map((service) => {
    const own = ofService(alone, service);
    const clause = `Service ${service} had no other ready ${familyWord(trace, service, own)}endpoint`;
    return {
      code: 'last-endpoint',
      severity: 'warning',
      message: `${clause} when the pod was removed from it`,
      clause,
      advice: replicaAdvice(timeline),
      evidence: own.flatMap(({ unroutedAt, counted }) => [...(unroutedAt?.evidence ?? []), ...counted]),
    };
  });
};

/** A surge helps a rolling update of a Deployment, and nothing else. */
function replicaAdvice({ workload }: Timeline): string {
  if (!workload) return 'Let a Deployment with at least two replicas own the pod.';
  const two = 'Run at least two replicas, protected by a PodDisruptionBudget';
  return workload.kind === 'Deployment' || workload.kind === 'ReplicaSet'
    ? `${two}; rolling updates need maxUnavailable: 0.`
    : `${two}.`;
}

/** A slice has endpoints of one address type: one family says nothing of another (SIGNALS.md §3). */
function familyWord(trace: Trace, service: string, endpoints: readonly EndpointTimeline[]): string {
  const slices = [...trace.slices.values()].filter((one) => (one.service ?? one.slice.metadata.name) === service);
  const all = new Set(slices.map(({ slice }) => slice.addressType));
  const own = new Set(endpoints.map(({ addressType }) => addressType));
  return own.size < all.size ? `${[...own].join(' or ')} ` : '';
}

const noReadyEndpoint: Rule = ({ trace, timeline, exit }) => {
  const isWhole = isWholeDeletion(timeline);
  if (isMeantToGo(timeline) && !isWhole) return undefined;
  return emptySpells(trace, exit).map(({ service, ms, open, evidence }) => {
    const length = lengthText({ min: ms, max: ms, shown: ms });
    const clause = `Service ${service} had no ready endpoint for ${open ? 'at least ' : ''}${length}`;
    return {
      code: 'no-ready-endpoint',
      severity: isWhole ? 'info' : 'warning',
      message: `${clause}${open ? ', until the trace ended' : ''}`,
      clause,
      advice: isWhole
        ? 'Expected: the whole workload was deleted.'
        : `New connections had no ready backend meanwhile. ${replicaAdvice(timeline)}`,
      evidence,
    };
  });
};

const staysReady: Rule = ({ timeline }) => {
  const kept = timeline.endpoints.filter((one) => one.staysReady && one.wasReady && wasReadyToTheEnd(one));
  return serviceNames(kept).map((service) => ({
    code: 'stays-ready',
    severity: 'info',
    message: `Service ${service} sets publishNotReadyAddresses: it sent traffic to the pod until the endpoint was removed`,
    clause: `Service ${service} kept it ready (publishNotReadyAddresses)`,
    advice: 'Keep publishNotReadyAddresses for peer discovery, and let clients use another Service.',
    evidence: ofService(kept, service).flatMap(({ counted, removedAt }) => [
      ...counted,
      ...(removedAt?.evidence ?? []),
    ]),
  }));
};

/** What took it out of the ready endpoints, if anything did, was its removal. */
const wasReadyToTheEnd = ({ unroutedAt, removedAt, counted }: EndpointTimeline): boolean =>
  !unroutedAt || counted.some((seq) => removedAt?.evidence.includes(seq));

/** The container that serves had ended, and its endpoint was still ready: the endpoint controller did not act. */
const notRemoved: Rule = (input) => {
  const { trace, timeline } = input;
  if (!isWatched(trace)) return undefined;
  const kept = timeline.endpoints.flatMap((endpoint) => {
    const ended = endOfServing(input, endpoint);
    const { unroutedAt } = endpoint;
    if (!endpoint.wasReady || endpoint.staysReady || ended === undefined) return [];
    const stayed = (unroutedAt?.earliest ?? trace.now) - ended;
    const needed = unroutedAt ? 0 : millisecondsOf('delivery-lag');
    return stayed > needed ? [{ endpoint, stayed }] : [];
  });
  const [longest] = kept.sort((a, b) => b.stayed - a.stayed);
  if (!longest) return undefined;
  const endpoints = kept.map(({ endpoint }) => endpoint);
  const isOpen = !longest.endpoint.unroutedAt;
  const length = isOpen ? '' : `for ${secondsText(longest.stayed)} `;
  const clause = `${servicesNamed(serviceNames(endpoints))} kept the pod ready ${length}after its container had ended`;
  return {
    code: 'endpoint-not-removed',
    severity: 'warning',
    message: isOpen ? `${clause}, and still did when the trace ended` : clause,
    clause,
    why: 'the endpoint controller did not act',
    advice:
      'Look at kube-controller-manager (or whatever manages the EndpointSlice): clients could still be sent to a pod that could not answer.',
    evidence: endpoints.flatMap(({ counted, unroutedAt }) => [...counted, ...(unroutedAt?.evidence ?? [])]),
  };
};

/** ms: by when all that serve the endpoint's Service had ended; undefined where that is not certain. */
function endOfServing(input: RuleInput, { service }: EndpointTimeline): number | undefined {
  const serving = servingContainers(input, service) ?? mainsIn(input.timeline);
  const ends = serving.map(({ exit }) => (exit?.code === undefined ? Infinity : exit.at.latest));
  const last = Math.max(...ends);
  return ends.length > 0 && Number.isFinite(last) ? last : undefined;
}

const isWatched = ({ gaps, refused, resumes }: Trace): boolean =>
  [...gaps, ...refused, ...resumes].every(({ value }) => value.stream !== 'endpointslices');

export const trafficRules = [requestsLost, drainRace, lastEndpoint, noReadyEndpoint, staysReady, notRemoved];
