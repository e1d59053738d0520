/** The renderers of one exit and of a run over several pods, and the RolloutReport. Those of other commands are beside the commands. */
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import type { Views } from './render.ts';
import { summaryOf, type RolloutNumbers } from '../verdict/rollout.ts';
import { jsonText } from './machine/json.ts';
import { finalLines } from './machine/ndjson.ts';
import { byGraceUsed, totalText, usedShareText } from '../verdict/headline.ts';
import { isGraceSeen } from '../verdict/rule-input.ts';
import { iconOf } from './text/card.ts';
import { plainPen as pen } from './palette.ts';
import { closingText, ownerText, podText } from './pod-facts.ts';
import { columnsOf } from './prose.ts';
import { endedPodLines, rolloutCardLines, rolloutIcon } from './text/rollout-card.ts';
import { forTerminal } from './safe-text.ts';

export const exitViews: Views<Report> = {
  text: async (report, pen) => [(await import('./text/lines.ts')).renderText(report, { pen }).trimEnd()],
  sentence: exitSentence,
  document: exitReportOf,
  others: {
    name: (report) => renderName(report),
    wide: (report) => wideTable([report]),
    markdown: async (report) => (await import('./machine/markdown.ts')).renderMarkdown(report),
    html: async (report) => (await import('./html/page.ts')).renderHtml(report),
    svg: async (report) => (await import('./html/svg.ts')).renderSvg(report),
    junit: async (report) => (await import('./machine/junit.ts')).renderJunit(report),
    ndjson: (report) => finalLines(exitReportOf(report)),
  },
};

export const rolloutViews: Views<RolloutResult> = {
  text: ({ numbers, reports }, pen, columns) => {
    const ended = reports.flatMap((report) => endedPodLines(pen, report, 'utc'));
    return [...ended, '', ...rolloutCardLines(numbers, { pen, columns })];
  },
  sentence: ({ numbers }) => rolloutSentence(numbers),
  document: ({ numbers, reports }) => {
    const { probes, ...summary } = summaryOf(numbers);
    const exits = reports.map(exitReportOf);
    return {
      apiVersion: 'podexit/v1',
      kind: 'RolloutReport',
      workload: workloadOf(summary.target),
      summary,
      exits,
      probes,
      // The same for all pods, except their images.
      run: exits[0]?.run && { ...exits[0].run, image: undefined },
    };
  },
  rows: ({ reports }) => reports.map(exitReportOf),
  others: {
    name: ({ reports }) => reports.map(renderName).join(''),
    wide: ({ reports }) => wideTable(reports),
    markdown: async ({ numbers, reports }) =>
      (await import('./machine/markdown.ts')).renderRolloutMarkdown(numbers, reports),
    html: async ({ numbers, reports }) => (await import('./html/page.ts')).renderRolloutHtml(numbers, reports),
    svg: async ({ numbers, reports }) => (await import('./html/svg.ts')).renderRolloutSvg(numbers, reports),
    junit: async ({ numbers, reports }) => (await import('./machine/junit.ts')).renderRolloutJunit(numbers, reports),
    ndjson: ({ numbers, reports }) =>
      reports.map((report) => finalLines(exitReportOf(report), true)).join('') + summaryLine(numbers),
  },
};

export interface RolloutResult {
  readonly numbers: RolloutNumbers;
  readonly reports: readonly Report[];
}

/** Splits `deployment/checkout` into kind and name. Several pods become a list of names; a selector is its name. */
function workloadOf(target: string): { kind: string; name: string } {
  // A node may have a selector behind its name.
  const [kind = '', name] = target.split(' ', 1).join('').split('/');
  if (kind === 'pod') return { kind: 'Pod', name: target.replaceAll('pod/', '') };
  const kinds = ['Node', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'Service'];
  const known = kinds.find((one) => one.toLowerCase() === kind);
  return known !== undefined && name !== undefined ? { kind: known, name } : { kind: 'Selector', name: target };
}

/** The last line of a run over several pods. */
export const summaryLine = (numbers: RolloutNumbers): string =>
  `${jsonText({ type: 'summary', ...summaryOf(numbers) })}\n`;

const columns: readonly (readonly [string, (report: Report) => string | undefined])[] = [
  ['NAME', ({ timeline }) => timeline.pod.metadata.name],
  ['NODE', ({ timeline }) => timeline.pod.spec.nodeName],
  ['OUTCOME', ({ timeline, verdict }) => `${timeline.mode === 'check' ? 'forecast:' : ''}${verdict.outcome}`],
  ['DURATION', ({ timeline }) => totalText(timeline)],
  ['GRACE', ({ timeline }) => (isGraceSeen(timeline) ? `${timeline.grace.effectiveSeconds}s` : '')],
  ['USED', usedText],
  ['TRIGGER', ({ timeline }) => timeline.trigger.kind],
  ['CONTAINERS', ({ timeline }) => timeline.containers.map(({ name, outcome }) => `${name}=${outcome}`).join(',')],
  ['TRAFFIC', ({ answer }) => answer.traffic.grade],
  ['GATES', ({ verdict }) => verdict.gates.map(gateText).join(',')],
  ['FINDINGS', ({ verdict }) => verdict.findings.map(({ code }) => code).join(',')],
];

/** `-o wide`: a header and a row for each pod like kubectl's, three spaces apart; `<none>` for what is not known. Without pods, nothing. */
export function wideTable(reports: readonly Report[]): string {
  if (reports.length === 0) return '';
  const rows = reports.map((report) => columns.map(([, value]) => forTerminal(value(report) || '<none>')));
  return `${columnsOf([columns.map(([title]) => title), ...rows]).join('\n')}\n`;
}

/** The share of the container that used most of the grace period. */
function usedText({ timeline }: Report): string | undefined {
  const [most] = timeline.containers.toSorted(byGraceUsed);
  return most?.graceUsed && usedShareText(timeline, most, most.graceUsed);
}

const gateText = ({ name, passed, judged }: Report['verdict']['gates'][number]): string =>
  `${name.replace(/ /g, ':')}=${judged === false ? 'not-judged' : passed ? 'passed' : 'failed'}`;

/** `-o name`: the pod as kubectl names it. */
export const renderName = ({ timeline }: Report): string => `pod/${forTerminal(timeline.pod.metadata.name)}\n`;

/** `✖ shop/checkout-6677656c54-258qr (deployment/checkout): SIGKILLed: app ignored SIGTERM …` */
export function exitSentence(report: Report): string {
  const owner = ownerText(report.timeline);
  const place = `${podText(report.timeline)}${owner === undefined ? '' : ` (${owner})`}`;
  return `${pen.symbol(iconOf(report).symbol)} ${place}: ${closingText(report)}`;
}

export const rolloutSentence = (numbers: RolloutNumbers): string =>
  `${pen.symbol(rolloutIcon(numbers).symbol)} ${numbers.target}: ${numbers.sentence}`;
