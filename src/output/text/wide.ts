/** The short formats: `-o wide` has exits as rows like kubectl's, `-o name` the pod as kubectl names it, `-o sentence` the answer. */
import { lengthText, shareText } from '../../verdict/length-text.ts';
import type { Report } from '../../verdict/report.ts';
import { graceMs, isGraceSeen, shareOfGrace } from '../../verdict/rule-input.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { iconOf } from './card.ts';
import { plainPen as pen } from '../palette.ts';
import { closingText, ownerText, podText } from '../pod-facts.ts';
import { columnsOf } from '../prose.ts';
import { rolloutIcon } from './rollout-card.ts';
import { forTerminal } from '../safe-text.ts';

const columns: readonly (readonly [string, (report: Report) => string | undefined])[] = [
  ['NAME', ({ timeline }) => timeline.pod.metadata.name],
  ['NODE', ({ timeline }) => timeline.pod.spec.nodeName],
  ['OUTCOME', ({ timeline, verdict }) => `${timeline.mode === 'check' ? 'forecast:' : ''}${verdict.outcome}`],
  ['DURATION', ({ timeline }) => timeline.total && lengthText(timeline.total)],
  ['GRACE', ({ timeline }) => (isGraceSeen(timeline) ? `${timeline.grace.effectiveSeconds}s` : '')],
  ['USED', usedText],
  ['TRIGGER', ({ timeline }) => timeline.trigger.kind],
  ['CONTAINERS', ({ timeline }) => timeline.containers.map(({ name, outcome }) => `${name}=${outcome}`).join(',')],
  ['TRAFFIC', ({ answer }) => answer.traffic.grade],
  ['GATES', ({ verdict }) => verdict.gates.map(gateText).join(',')],
  ['FINDINGS', ({ verdict }) => verdict.findings.map(({ code }) => code).join(',')],
];

/** A header and a row for each pod, three spaces apart; `<none>` for what is not known. Without pods, nothing. */
export function wideTable(reports: readonly Report[]): string {
  if (reports.length === 0) return '';
  const rows = reports.map((report) => columns.map(([, value]) => forTerminal(value(report) || '<none>')));
  return `${columnsOf([columns.map(([title]) => title), ...rows]).join('\n')}\n`;
}

/** The share of the container that used most of the grace period. */
function usedText({ timeline }: Report): string | undefined {
  const [most] = timeline.containers.flatMap(({ graceUsed }) => graceUsed ?? []).sort((a, b) => b.shown - a.shown);
  return most && shareText(shareOfGrace(timeline, most), graceMs(timeline));
}

const gateText = ({ name, passed, judged }: Report['verdict']['gates'][number]): string =>
  `${name.replace(/ /g, ':')}=${judged === false ? 'not-judged' : passed ? 'passed' : 'failed'}`;

export const renderName = ({ timeline }: Report): string => `pod/${forTerminal(timeline.pod.metadata.name)}\n`;

/** `✖ shop/checkout-6677656c54-258qr (deployment/checkout): SIGKILLed: app ignored SIGTERM …` */
export function exitSentence(report: Report): string {
  const owner = ownerText(report.timeline);
  const place = `${podText(report.timeline)}${owner === undefined ? '' : ` (${owner})`}`;
  return `${pen.symbol(iconOf(report).symbol)} ${place}: ${closingText(report)}`;
}

export const rolloutSentence = (numbers: RolloutNumbers): string =>
  `${pen.symbol(rolloutIcon(numbers).symbol)} ${numbers.target}: ${numbers.sentence}`;
