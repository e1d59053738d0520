/** The renderers of one exit and of a run over several pods. Those of other commands are beside the commands. */
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import { rolloutLines, rolloutReportOf, type RolloutResult } from './rollout-report.ts';
import type { Views } from './render.ts';

export const exitViews: Views<Report> = {
  text: async (report, pen) => [(await import('./text/lines.ts')).renderText(report, { style: pen.style }).trimEnd()],
  sentence: async (report) => (await import('./text/wide.ts')).exitSentence(report),
  document: exitReportOf,
  others: {
    name: async (report) => (await import('./text/wide.ts')).renderName(report),
    wide: async (report) => (await import('./text/wide.ts')).renderWide(report),
    markdown: async (report) => (await import('./machine/markdown.ts')).renderMarkdown(report),
    html: async (report) => (await import('./html/page.ts')).renderHtml(report),
    svg: async (report) => (await import('./html/svg.ts')).renderSvg(report),
    junit: async (report) => (await import('./machine/junit.ts')).renderJunit(report),
    ndjson: async (report) => (await import('./machine/ndjson.ts')).finalLines(exitReportOf(report)),
  },
};

export const rolloutViews: Views<RolloutResult> = {
  text: async (rollout, pen, columns) => (await import('./text/rollout-card.ts')).rolloutText(rollout, pen, columns),
  sentence: async ({ numbers }) => (await import('./text/wide.ts')).rolloutSentence(numbers),
  document: rolloutReportOf,
  rows: ({ reports }) => reports.map(exitReportOf),
  others: {
    name: async ({ reports }) => reports.map((await import('./text/wide.ts')).renderName).join(''),
    wide: async ({ reports }) => (await import('./text/wide.ts')).wideTable(reports),
    markdown: async ({ numbers, reports }) =>
      (await import('./machine/markdown.ts')).renderRolloutMarkdown(numbers, reports),
    html: async ({ numbers, reports }) => (await import('./html/page.ts')).renderRolloutHtml(numbers, reports),
    svg: async ({ numbers, reports }) => (await import('./html/svg.ts')).renderRolloutSvg(numbers, reports),
    junit: async ({ numbers, reports }) => (await import('./machine/junit.ts')).renderRolloutJunit(numbers, reports),
    ndjson: ({ numbers, reports }) => rolloutLines(numbers, reports),
  },
};
