/** The renderers of one exit and of a run over several pods, and the RolloutReport. Those of other commands are beside the commands. */
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import type { Views } from './render.ts';
import { summaryOf, type RolloutNumbers } from '../verdict/rollout.ts';
import { jsonText } from './machine/json.ts';
import { finalLines } from './machine/ndjson.ts';

export const exitViews: Views<Report> = {
  text: async (report, pen) => [(await import('./text/lines.ts')).renderText(report, { pen }).trimEnd()],
  sentence: async (report) => (await import('./text/wide.ts')).exitSentence(report),
  document: exitReportOf,
  others: {
    name: async (report) => (await import('./text/wide.ts')).renderName(report),
    wide: async (report) => (await import('./text/wide.ts')).wideTable([report]),
    markdown: async (report) => (await import('./machine/markdown.ts')).renderMarkdown(report),
    html: async (report) => (await import('./html/page.ts')).renderHtml(report),
    svg: async (report) => (await import('./html/svg.ts')).renderSvg(report),
    junit: async (report) => (await import('./machine/junit.ts')).renderJunit(report),
    ndjson: async (report) => (await import('./machine/ndjson.ts')).finalLines(exitReportOf(report)),
  },
};

export const rolloutViews: Views<RolloutResult> = {
  text: async ({ numbers, reports }, pen, columns) => {
    const { endedPodLines, rolloutCardLines } = await import('./text/rollout-card.ts');
    const ended = reports.flatMap((report) => endedPodLines(pen, report, 'utc'));
    return [...ended, '', ...rolloutCardLines(numbers, { pen, columns })];
  },
  sentence: async ({ numbers }) => (await import('./text/wide.ts')).rolloutSentence(numbers),
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
    name: async ({ reports }) => reports.map((await import('./text/wide.ts')).renderName).join(''),
    wide: async ({ reports }) => (await import('./text/wide.ts')).wideTable(reports),
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
