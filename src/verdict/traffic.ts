/**
 * Judges whether clients lost requests, with the reason, and whether any backend could take new connections. Looks only
 * at containers that serve a Service's target port. Pure.
 */
import type { RoutedEndpoint, Timeline } from '../infer/timeline.ts';
import {
  drainLeads,
  minLeadMs,
  leadText,
  isRouted,
  routedEndpoints,
  serviceNames,
  whyEndpointsUnknown,
  noReadyPeriods,
  periodLength,
} from './routing.ts';
import type { FindingCode, TrafficReport } from '../model/report.ts';
import type { JudgedFinding } from './finding.ts';
import { lengthText, secondsText, list, plural, servicesNamed } from './words.ts';
import { noLossText, servedText } from './loss.ts';
import {
  needsNoReplacement,
  mainContainers,
  ranContainers,
  servingContainers,
  signalName,
  wasForced,
  type RuleInput,
} from './rule-input.ts';

/** The worst first. */
export const trafficGrades = ['lost', 'outage', 'misrouted', 'race', 'safe', 'not-judged'] as const;
export type TrafficGrade = (typeof trafficGrades)[number];

export interface TrafficAnswer {
  readonly judgement: TrafficReport['judgement'];
  readonly grade: TrafficGrade;
  readonly reason: string;
  /** `no loss measured (412 requests)`. A few requests a second can miss a gap of milliseconds, so a risk stays a risk. */
  readonly measured?: string;
  readonly services: readonly ServiceAnswer[];
}

type ServiceAnswer = ReturnType<typeof servicesOf>[number];

export function trafficOf(input: RuleInput | undefined, findings: readonly JudgedFinding[]): TrafficAnswer {
  if (!input) return { ...notJudged('no deletion was observed'), services: [] };
  const { timeline } = input;
  const services = servicesOf(input);
  const capacity = capacityOf(services, findings);
  const lost = findings.find(({ code }) => code === 'requests-lost');
  const { judgement, reason } = lost
    ? { judgement: 'lost' as const, reason: lost.clause ?? lost.message }
    : judgementOf(input, findings, capacity?.text);
  const isMisrouted = findings.some(({ code }) => code === 'endpoint-not-removed');
  const risk = capacity?.isOutage ? 'outage' : isMisrouted ? 'misrouted' : 'race';
  const grade = judgement === 'at-risk' ? risk : judgement;
  const served = lost ? [] : mainContainers(timeline).flatMap((container) => servedText(container) ?? []);
  return {
    judgement,
    grade,
    reason: [withCapacity(reason, grade, isMisrouted, capacity?.text), ...served].join(' · '),
    measured: lost ? undefined : noLossText(timeline),
    services,
  };
}

/** How the pod stopped neither causes nor ends an outage; that clients were still sent to it is told too. */
function withCapacity(reason: string, grade: TrafficGrade, isMisrouted: boolean, capacity?: string): string {
  if (capacity === undefined || reason === capacity) return reason;
  if (grade !== 'outage') return `${reason}; ${capacity}`;
  return isMisrouted ? `${capacity}; ${reason}` : capacity;
}

type Judgement = Pick<TrafficAnswer, 'judgement' | 'reason'>;

const safe = (reason: string): Judgement => ({ judgement: 'safe', reason });
export const notJudged = (reason: string) => ({ judgement: 'not-judged', grade: 'not-judged', reason }) as const;
const atRisk = (reason: string): Judgement => ({ judgement: 'at-risk', reason });

/** Safe only if every serving container certainly had the minimum lead. */
function judgementOf(input: RuleInput, findings: readonly JudgedFinding[], capacity: string | undefined): Judgement {
  const { endpoints } = input.timeline;
  if (ranContainers(input.timeline).length === 0) return notJudged('no container was serving');
  const since = input.deletion.accepted.client.lo - minLeadMs;
  const isRecent = routedEndpoints(input.timeline).some(({ unroutedAt }) => !unroutedAt || unroutedAt.latest > since);
  const unseen = whyEndpointsUnknown(input);
  if (unseen !== undefined) return notJudged(unseen);
  if (endpoints.length === 0 && !isRecent) return notJudged('no Service routes to this pod');
  // No Service sent it traffic.
  if (!endpoints.some(({ wasReady }) => wasReady) && !isRecent)
    return safe(`it was not ready in ${servicesText(endpoints)} before the deletion`);
  const risk = connectionRisk(input, findings);
  if (risk !== undefined) return atRisk(risk);
  // Connected clients were not at risk, but new connections had no ready backend.
  if (capacity !== undefined && !needsNoReplacement(input.timeline)) return atRisk(capacity);
  const unknown = endpoints.find((one) => isRouted(one) && servingContainers(input, one.service) === undefined);
  if (unknown)
    return notJudged(`no container declares the port of ${servicesText([unknown])}, so which one serves it is unknown`);
  const [shortest] = drainLeads(input).sort((a, b) => a.lead.min - b.lead.min);
  if (!shortest) return notJudged('the stop signal or the removal was not observed');
  const { container, endpoint, lead } = shortest;
  const removal = `removal from ${servicesText([endpoint])}`;
  if (lead.min >= minLeadMs) return safe(`${signalName(container)} ${leadText(lead)} ${removal}`);
  const earliest = secondsText(Math.max(0, lead.min), 1);
  return notJudged(`${container.name} may have got ${signalName(container)} ${earliest} after ${removal}`);
}

/** What put requests of connected clients at risk: the first two reasons. */
function connectionRisk({ timeline }: RuleInput, findings: readonly JudgedFinding[]): string | undefined {
  const clausesOf = (code: FindingCode): string[] =>
    findings.filter((finding) => finding.code === code).flatMap(({ clause }) => clause ?? []);
  const clauses = [
    ...clausesOf('endpoint-not-removed'),
    ...(wasForced(timeline) ? ['a forced deletion leaves no time to shut down'] : []),
    ...clausesOf('drain-race'),
    ...clausesOf('stays-ready'),
  ];
  if (clauses.length === 0) return undefined;
  const others = clauses.length === 1 ? otherReadyOf(timeline) : 0;
  return clauses.slice(0, 2).join('; ') + (others > 0 ? ` · ${plural(others, 'other endpoint')} ready` : '');
}

/** `no ready backend in Service api for ≥7.2s, and still none when the trace ended`; `isOutage`: for a time, a Service had none. */
function capacityOf(services: readonly ServiceAnswer[], findings: readonly JudgedFinding[]) {
  const isShort = ({ code }: JudgedFinding): boolean => code === 'last-endpoint' || code === 'no-ready-endpoint';
  if (!findings.some((one) => isShort(one) && one.severity !== 'info')) return undefined;
  const texts = [...services]
    .sort((a, b) => (b.noReady?.ms ?? 0) - (a.noReady?.ms ?? 0))
    .flatMap(({ name, otherReady, noReady }) => {
      if (!noReady) return otherReady === 0 ? [`no other ready endpoint in Service ${name}`] : [];
      const still = noReady.end === 'open' ? ', and still none when the trace ended' : '';
      return [`no ready backend in Service ${name} for ${lengthText(periodLength(noReady))}${still}`];
    });
  const more = texts.length > 2 ? ` and ${plural(texts.length - 2, 'more Service')}` : '';
  if (texts.length === 0) return undefined;
  return { text: texts.slice(0, 2).join('; ') + more, isOutage: services.some(({ noReady }) => noReady) };
}

/** Endpoints that go together with the pod cannot take over. */
function otherReadyOf(timeline: Timeline): number {
  const others = timeline.endpoints.flatMap(({ wasReady, otherReady }) => (wasReady ? otherReady : []));
  return needsNoReplacement(timeline) || others.length === 0 ? 0 : Math.min(...others);
}

function servicesText(endpoints: readonly RoutedEndpoint[]): string {
  const names = serviceNames(endpoints);
  return endpoints.every(({ service }) => service !== undefined) ? servicesNamed(names) : list(names);
}

/** `otherReady`: ready endpoints of other pods when this one was removed. */
function servicesOf(input: RuleInput) {
  const { endpoints } = input.timeline;
  const periods = new Map(noReadyPeriods(input).map((period) => [period.service, period]));
  return [...new Set(endpoints.flatMap(({ service }) => service ?? []))].map((name) => {
    const ready = endpoints.filter(({ service }) => service === name).map(({ otherReady }) => otherReady);
    return { name, otherReady: Math.max(0, ...ready), noReady: periods.get(name) };
  });
}
