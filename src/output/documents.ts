/** What a command has found, in each format that it can be printed in. Only the asked renderer is loaded. */
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import { rolloutReportOf, type Rollout } from './rollout-report.ts';
import type { Format, FormatKind } from './formats.ts';
import { penFor, plainStyle, type Pen } from './palette.ts';

/** One row a format. */
export interface Views<R> {
  /** Lines for people, of at most `columns`. */
  text(result: R, pen: Pen, columns: number): string[] | Promise<string[]>;
  /** The answer in one line. */
  sentence(result: R): string | Promise<string>;
  /** What JSON, YAML and templates show; absent: the result itself. */
  document?(result: R): object;
  others?: Partial<Record<FormatKind, (result: R) => string | Promise<string>>>;
}

export const exitViews: Views<Report> = {
  text: async (report, pen) => [(await import('./text/lines.ts')).renderText(report, { style: pen.style }).trimEnd()],
  sentence: async (report) => (await import('./text/sentence.ts')).exitSentence(report),
  document: exitReportOf,
  others: {
    name: async (report) => (await import('./text/wide.ts')).renderName(report),
    wide: async (report) => (await import('./text/wide.ts')).renderWide(report),
    markdown: async (report) => (await import('./machine/markdown.ts')).renderMarkdown(report),
    html: async (report) => (await import('./html/page.ts')).renderHtml(report),
    junit: async (report) => (await import('./machine/junit.ts')).renderJunit(report),
    ndjson: async (report) => (await import('./machine/ndjson.ts')).finalLines(exitReportOf(report)),
  },
};

/** A run over several pods. */
export const rolloutViews: Views<Rollout> = {
  text: async (rollout, pen, columns) => (await import('./text/rollout-card.ts')).rolloutText(rollout, pen, columns),
  sentence: async ({ numbers }) => (await import('./text/sentence.ts')).rolloutSentence(numbers),
  document: rolloutReportOf,
  others: {
    name: async ({ reports }) => reports.map((await import('./text/wide.ts')).renderName).join(''),
    wide: async ({ reports }) => (await import('./text/wide.ts')).wideTable(reports),
    markdown: async ({ numbers, reports }) =>
      (await import('./machine/markdown.ts')).renderRolloutMarkdown(numbers, reports),
    html: async ({ numbers, reports }) => (await import('./html/page.ts')).renderRolloutHtml(numbers, reports),
    junit: async ({ numbers, reports }) => (await import('./machine/junit.ts')).renderRolloutJunit(numbers, reports),
    ndjson: async ({ numbers, reports }) => (await import('./machine/ndjson-view.ts')).rolloutLines(numbers, reports),
  },
};

/** The result in a format. `pen` and `columns` are for text. */
export async function render<R>(
  format: Format,
  views: Views<R>,
  result: R,
  pen: Pen = penFor(plainStyle),
  columns = Infinity,
): Promise<string> {
  const own = views.others?.[format.kind];
  if (own) return own(result);
  const document = (): object => views.document?.(result) ?? (result as object);
  switch (format.kind) {
    case 'json':
      return (await import('./machine/json.ts')).renderJson(document());
    case 'yaml':
      // JSON drops undefined fields.
      return (await import('./machine/yaml.ts')).yamlText(JSON.parse(JSON.stringify(document())));
    case 'jsonpath':
      return (await import('./machine/jsonpath.ts')).renderJsonPath(document(), format.template);
    case 'jsonpath-as-json':
      return (await import('./machine/jsonpath.ts')).renderJsonPathAsJson(document(), format.template);
    case 'sentence':
      return `${(await import('./safe-text.ts')).forChat(await views.sentence(result))}\n`;
    default:
      return `${pen.letters((await views.text(result, pen, columns)).join('\n'))}\n`;
  }
}
