/**
 * Whether clients lost requests: safe, at risk, lost (only where a probe measured it) or not judged, always with the
 * reason. It looks only at containers that serve a Service's target port. Pure.
 */
import type { EndpointTimeline } from '../infer/timeline.ts';
import type { TrafficAnswer } from './answer.ts';
import { isMeantToGo } from './capacity.ts';
import type { DrainLead } from './drain-lead.ts';
import { drainLeads, headStart } from './drain-lead.ts';
import { emptySpells } from './empty-spells.ts';
import type { JudgedFinding } from './finding.ts';
import { leadText, serviceName } from './findings/traffic.ts';
import { secondsText } from './length-text.ts';
import { noLossText, servedText } from './loss.ts';
import type { RuleInput } from './rule-input.ts';
import { mainsIn, ranIn, signalName } from './rule-input.ts';
import { servingContainers } from './serving.ts';
import { unseenRoutes, withoutRoutes } from './unseen-routes.ts';
import { list, servicesNamed } from './words.ts';

type Judged = Pick<TrafficAnswer, 'judgement' | 'reason'>;

export function trafficOf(input: RuleInput | undefined, findings: readonly JudgedFinding[]): TrafficAnswer {
  if (!input) return { ...notJudged('no deletion was observed'), services: [] };
  const lost = findings.find(({ code }) => code === 'requests-lost');
  if (lost) return { judgement: 'lost', reason: lost.message, services: servicesOf(input) };
  const judged = rules.reduce<Judged | undefined>((known, rule) => known ?? rule(input, findings), undefined);
  const { judgement, reason } = judged ?? notJudged('the stop signal or the removal was not observed');
  // A few requests a second do not see a gap of milliseconds: the risk stays.
  const measured = [...mainsIn(input).map(servedText), noLossText(input.timeline)].filter((one) => one !== undefined);
  return { judgement, reason: [reason, ...measured].join(' · '), services: servicesOf(input) };
}

const notJudged = (reason: string): Judged => ({ judgement: 'not-judged', reason });
const atRisk = (reason: string): Judged => ({ judgement: 'at-risk', reason });

/** The first that says something holds. */
const rules: readonly ((input: RuleInput, findings: readonly JudgedFinding[]) => Judged | undefined)[] = [
  (input) => (ranIn(input).length === 0 ? notJudged('nothing was running') : undefined),
  (input) => (input.timeline.endpoints.length === 0 ? withoutEndpoints(input) : undefined),
  (input) => {
    const unseen = unseenRoutes(input);
    return unseen === undefined ? undefined : notJudged(unseen);
  },
  wasUnready,
  risks,
  enoughLead,
];

function withoutEndpoints(input: RuleInput): Judged {
  const { passed, message } = withoutRoutes(input);
  return notJudged(passed ? 'no Service routes to this pod' : message);
}

/** No endpoint of it was ready when the deletion came: nobody sent it anything. */
function wasUnready({ timeline }: RuleInput): Judged | undefined {
  const { endpoints } = timeline;
  if (endpoints.some(({ wasReady }) => wasReady)) return undefined;
  return { judgement: 'safe', reason: `it was not ready in ${named(endpoints)} before the deletion` };
}

/** All that put requests at risk, the signal first. */
function risks(input: RuleInput, findings: readonly JudgedFinding[]): Judged | undefined {
  const signals = [
    ...of(findings, 'endpoint-not-removed'),
    ...forced(input),
    ...of(findings, 'drain-race'),
    ...of(findings, 'stays-ready'),
  ];
  if (signals.length > 0) return atRisk(signals.slice(0, 2).join('; ') + otherReadyText(input, signals));
  return isWithoutBackend(input, findings) ? atRisk(capacityText(leastLead(input))) : undefined;
}

/** How long, and of which Service, the findings about capacity say. */
function capacityText(least: DrainLead | undefined): string {
  if (!least) return 'lack of capacity';
  return `lack of capacity${least.lead.min >= headStart ? ' only' : ''}; ${leadSentence(least)}`;
}

const of = (findings: readonly JudgedFinding[], code: JudgedFinding['code']): string[] =>
  findings.filter((one) => one.code === code).flatMap(({ clause }) => clause ?? []);

function forced(input: RuleInput): string[] {
  const wasForced = ranIn(input).some(({ outcome }) => outcome === 'abandoned');
  return wasForced ? ['a forced deletion leaves no time to drain'] : [];
}

const isWithoutBackend = (input: RuleInput, findings: readonly JudgedFinding[]): boolean =>
  !isMeantToGo(input) && findings.some(({ code }) => code === 'no-ready-endpoint' || code === 'last-endpoint');

const leastLead = (input: RuleInput): DrainLead | undefined =>
  drainLeads(input).sort((a, b) => a.lead.min - b.lead.min)[0];

const leadSentence = (one: DrainLead): string =>
  `${signalName(one.container)} came ${leadText(one)} removal from ${named([one.endpoint])}`;

function otherReadyText(input: RuleInput, clauses: readonly string[]): string {
  if (clauses.length !== 1) return '';
  const ready = input.timeline.endpoints.filter(({ wasReady }) => wasReady).map(({ otherReady }) => otherReady);
  const least = Math.min(...ready);
  if (!Number.isFinite(least) || least === 0) return '';
  return ` · ${least} other endpoint${least === 1 ? '' : 's'} ready`;
}

/** Safe only where every serving container certainly had its head start. */
function enoughLead(input: RuleInput): Judged | undefined {
  const routed = input.timeline.endpoints.filter(({ wasReady, staysReady }) => wasReady && !staysReady);
  const unknown = routed.find(({ service }) => servingContainers(input, service) === undefined);
  if (unknown && mainsIn(input).length > 1)
    return notJudged(`no container declares the port of ${named([unknown])}, so which one serves it is unknown`);
  const least = leastLead(input);
  if (!least) return undefined;
  const text = leadSentence(least);
  if (least.lead.min >= headStart) return { judgement: 'safe', reason: text };
  return notJudged(`${text}, perhaps as early as ${secondsText(Math.max(0, least.lead.min), 1)}`);
}

const named = (endpoints: readonly EndpointTimeline[]): string => {
  const names = [...new Set(endpoints.map(serviceName))];
  return endpoints.every(({ service }) => service !== undefined) ? servicesNamed(names) : list(names);
};

function servicesOf(input: RuleInput): TrafficAnswer['services'] {
  const { endpoints } = input.timeline;
  const spells = new Map(emptySpells(input.trace, input.exit).map((spell) => [spell.service, spell]));
  return [...new Set(endpoints.flatMap(({ service }) => service ?? []))].map((name) => {
    const spell = spells.get(name);
    const ready = endpoints.filter(({ service }) => service === name).map(({ otherReady }) => otherReady);
    return {
      name,
      otherReady: Math.max(0, ...ready),
      noReady: spell && { min: spell.ms, max: spell.open ? Infinity : spell.ms, shown: spell.ms, lasts: spell.open },
    };
  });
}
