/** Findings about the Services that route to the pod. */
import type { EndpointTimeline } from '../../infer/timeline.ts';
import { millisecondsOf } from '../../model/assumptions.ts';
import type { Trace } from '../../model/trace.ts';
import { headStart, racesIn, type DrainLead } from '../drain-lead.ts';
import { emptySpells } from '../empty-spells.ts';
import type { FindingDraft } from '../finding.ts';
import { lengthText, secondsText } from '../length-text.ts';
import { lossOf, servedText } from '../loss.ts';
import { isMeantToGo, isWholeDeletion, mainsIn, servingContainers, signalName, type RuleInput } from '../rule-input.ts';
import { servicesNamed } from '../words.ts';

export const trafficFindings = (input: RuleInput): FindingDraft[] => [
  ...requestsLost(input),
  ...drainRace(input),
  ...lastEndpoint(input),
  ...noReadyEndpoint(input),
  ...staysReady(input),
  ...notRemoved(input),
];

/** What a probe measured, before the deletion began excepted: that was not its doing. */
function requestsLost({ timeline }: RuleInput): FindingDraft[] {
  const loss = lossOf(timeline);
  if (!loss || loss.cause === 'before-deletion') return [];
  return [
    {
      code: 'requests-lost',
      severity: 'error',
      container: mainsIn({ timeline }).length === 1 ? mainsIn({ timeline })[0]?.name : undefined,
      message: `${loss.what}: ${loss.why}`,
      clause: loss.what,
      why: loss.why,
      advice: loss.advice,
      evidence: [...loss.evidence],
    },
  ];
}

export const serviceName = (endpoint: EndpointTimeline): string => endpoint.service ?? endpoint.slice;

/** The stop signal came less than a head start after the removal, or before it. */
function drainRace(input: RuleInput): FindingDraft[] {
  const races = racesIn(input);
  const [worst] = races;
  if (!worst) return [];
  const services = servicesNamed([...new Set(races.map(({ endpoint }) => serviceName(endpoint)))]);
  const { container, hard, evidence } = worst;
  const measured = servedText(container);
  const lost = hard
    ? `; ${container.name} was gone or refused connections less than 1s later`
    : measured === undefined
      ? ''
      : `; ${measured}`;
  return [
    {
      code: 'drain-race',
      severity: hard ? 'warning' : 'info',
      container: container.name,
      message: `${signalName(container)} arrived ${isCertain(worst) ? '' : 'perhaps '}before load balancers could stop sending traffic to ${container.name}: ${leadText(worst)} removal from ${services}${lost}`,
      clause: `${signalName(container)} came ${leadText(worst)} removal from ${services}${container.preStop ? '' : ', no preStop hook'}`,
      advice:
        'Add a preStop sleep, so that the application keeps serving until load balancers know, and raise terminationGracePeriodSeconds by as much.',
      evidence: [...evidence],
    },
  ];
}

/** A lead that may have been a second is enough for some load balancers. */
const isCertain = ({ lead }: DrainLead): boolean => lead.max < headStart;

/** `0.02s after`, `at most 0.02s after`, `0.4s before`; `at most`: the signal may also have come at any time before. */
export function leadText({ lead }: Pick<DrainLead, 'lead'>): string {
  const { min, max, shown } = lead;
  if (max <= 0) return `${lengthText({ min: -max, max: -min, shown: -shown })} before`;
  const text = min < 0 ? `≤${secondsText(max, max < 95 ? 2 : 1)}` : lengthText(lead);
  return `${text.replace('≤', 'at most ')} after`;
}

function lastEndpoint(input: RuleInput): FindingDraft[] {
  if (isMeantToGo(input)) return [];
  const alone = input.timeline.endpoints.filter(({ unroutedAt, otherReady }) => unroutedAt && otherReady === 0);
  return [...new Set(alone.map(serviceName))].map((service) => ({
    code: 'last-endpoint' as const,
    severity: 'warning' as const,
    message: `Service ${service} had no other ready ${familyWord(input.trace, service, alone)}endpoint when the pod was removed from it`,
    clause: `Service ${service} had no other ready ${familyWord(input.trace, service, alone)}endpoint`,
    advice: replicaAdvice(input),
    evidence: [
      ...new Set(
        alone
          .filter((one) => serviceName(one) === service)
          .flatMap((one) => [...(one.unroutedAt?.evidence ?? []), ...one.counted]),
      ),
    ],
  }));
}

/** A surge helps a rolling update of a Deployment, and nothing else. */
function replicaAdvice({ timeline: { workload } }: RuleInput): string {
  if (!workload) return 'Let a Deployment with at least two replicas own the pod.';
  const two = 'Run at least two replicas, protected by a PodDisruptionBudget';
  return workload.kind === 'Deployment' || workload.kind === 'ReplicaSet'
    ? `${two}; rolling updates need maxUnavailable: 0.`
    : `${two}.`;
}

/** A slice has endpoints of one address type: one family says nothing of another (SIGNALS.md §3). */
function familyWord(trace: Trace, service: string, alone: readonly EndpointTimeline[]): string {
  const slices = [...trace.slices.values()].filter((one) => (one.service ?? one.slice.metadata.name) === service);
  const all = new Set(slices.map(({ slice }) => slice.addressType));
  const own = new Set(alone.filter((one) => serviceName(one) === service).map(({ addressType }) => addressType));
  return own.size < all.size ? `${[...own].join(' or ')} ` : '';
}

function noReadyEndpoint(input: RuleInput): FindingDraft[] {
  if (isMeantToGo(input) && !isWholeDeletion(input)) return [];
  return emptySpells(input.trace, input.exit).map((spell) => {
    const length = `${spell.open ? 'at least ' : ''}${lengthText({ min: spell.ms, max: spell.ms, shown: spell.ms })}`;
    return {
      code: 'no-ready-endpoint',
      severity: isWholeDeletion(input) ? 'info' : 'warning',
      message: `Service ${spell.service} had no ready endpoint for ${length}${spell.open ? ', until the trace ended' : ''}`,
      clause: `Service ${spell.service} had no ready endpoint for ${length}`,
      advice: isWholeDeletion(input)
        ? 'Expected: the whole workload was deleted.'
        : `New connections had no ready backend meanwhile. ${replicaAdvice(input)}`,
      evidence: spell.evidence,
    };
  });
}

function staysReady({ timeline }: RuleInput): FindingDraft[] {
  const kept = timeline.endpoints.filter((one) => one.staysReady && one.wasReady && wasReadyToTheEnd(one));
  return [...new Set(kept.map(serviceName))].map((service) => ({
    code: 'stays-ready' as const,
    severity: 'info' as const,
    message: `Service ${service} sets publishNotReadyAddresses: it sent traffic to the pod until the endpoint was removed`,
    clause: `Service ${service} kept it ready (publishNotReadyAddresses)`,
    advice: 'Keep publishNotReadyAddresses for peer discovery, and let clients use another Service.',
    evidence: [
      ...new Set(
        kept
          .filter((one) => serviceName(one) === service)
          .flatMap((one) => [...one.counted, ...(one.removedAt?.evidence ?? [])]),
      ),
    ],
  }));
}

/** What took it out of the ready endpoints, if anything did, was its removal. */
const wasReadyToTheEnd = ({ unroutedAt, removedAt, counted }: EndpointTimeline): boolean =>
  !unroutedAt || counted.some((seq) => removedAt?.evidence.includes(seq));

/** The container that serves had ended, and its endpoint was still ready: the endpoint controller did not act. */
function notRemoved(input: RuleInput): FindingDraft[] {
  if (!isWatched(input.trace)) return [];
  const kept = input.timeline.endpoints.flatMap((endpoint) => {
    const ended = endOfServing(input, endpoint);
    const { unroutedAt } = endpoint;
    if (!endpoint.wasReady || endpoint.staysReady || ended === undefined) return [];
    const stayed = (unroutedAt?.earliest ?? input.trace.now) - ended;
    const needed = unroutedAt ? 0 : millisecondsOf('delivery-lag');
    return stayed > needed ? [{ endpoint, stayed }] : [];
  });
  const [longest] = kept.sort((a, b) => b.stayed - a.stayed);
  if (!longest) return [];
  const services = servicesNamed([...new Set(kept.map(({ endpoint }) => serviceName(endpoint)))]);
  const isOpen = !longest.endpoint.unroutedAt;
  const clause = `${services} kept the pod ready ${isOpen ? 'after' : `for ${secondsText(longest.stayed)} after`} its container had ended`;
  return [
    {
      code: 'endpoint-not-removed',
      severity: 'warning',
      message: isOpen ? `${clause}, and still did when the trace ended` : clause,
      clause,
      why: 'the endpoint controller did not act',
      advice:
        'Look at kube-controller-manager (or whatever manages the EndpointSlice): clients could still be sent to a pod that could not answer.',
      evidence: [
        ...new Set(kept.flatMap(({ endpoint }) => [...endpoint.counted, ...(endpoint.unroutedAt?.evidence ?? [])])),
      ],
    },
  ];
}

/** ms: by when all that serve the endpoint's Service had ended; undefined where that is not certain. */
function endOfServing(input: RuleInput, { service }: EndpointTimeline): number | undefined {
  const serving = servingContainers(input, service) ?? mainsIn(input);
  const ends = serving.map(({ exit }) => (exit?.code === undefined ? Infinity : exit.at.latest));
  const last = Math.max(...ends);
  return ends.length > 0 && Number.isFinite(last) ? last : undefined;
}

const isWatched = ({ gaps, refused, resumes }: Trace): boolean =>
  !gaps.some(({ value }) => value.stream === 'endpointslices') &&
  !refused.some(({ value }) => value.stream === 'endpointslices') &&
  !resumes.some(({ value }) => value.stream === 'endpointslices');
