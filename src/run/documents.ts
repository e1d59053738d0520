/** A report as a document. Each renderer is loaded only where it is asked for. */
import type { Report } from '../verdict/report.ts';
import type { RolloutNumbers } from '../verdict/rollout-summary.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { DocumentKind, Format } from './formats.ts';

/** To be asked before a pod is deleted. Throws `output.jsonpath` where no report could be put into the template. */
export async function assertRenderable(format: Format): Promise<void> {
  if ('template' in format) (await import('../render/jsonpath.ts')).readTemplate(format.template);
}

export async function renderDocument(format: Format & { kind: DocumentKind }, report: Report): Promise<string> {
  return renderers[format.kind](report, 'template' in format ? format.template : '');
}

const renderers: Record<DocumentKind, (report: Report, template: string) => Promise<string>> = {
  json: async (report) => (await import('../render/json.ts')).renderJson(exitReportOf(report)),
  yaml: async (report) => (await import('../render/yaml.ts')).renderYaml(exitReportOf(report)),
  name: async (report) => (await import('../render/wide.ts')).renderName(report),
  wide: async (report) => (await import('../render/wide.ts')).renderWide(report),
  markdown: async (report) => (await import('../render/markdown.ts')).renderMarkdown(report),
  html: async (report) => (await import('../render/html.ts')).renderHtml(report),
  junit: async (report) => (await import('../render/junit.ts')).renderJunit(report),
  text: async (report) => (await import('../render/lines.ts')).renderText(report),
  jsonpath: async (report, template) =>
    (await import('../render/jsonpath.ts')).renderJsonPath(exitReportOf(report), template),
  'jsonpath-as-json': async (report, template) =>
    (await import('../render/jsonpath.ts')).renderJsonPathAsJson(exitReportOf(report), template),
};

/** A run over several pods as one document. */
export async function renderRollout(
  kind: 'html' | 'markdown' | 'junit',
  numbers: RolloutNumbers,
  reports: readonly Report[],
): Promise<string> {
  if (kind === 'html') return (await import('../render/html.ts')).renderRolloutHtml(numbers, reports);
  if (kind === 'junit') return (await import('../render/junit.ts')).renderRolloutJunit(numbers, reports);
  return (await import('../render/markdown.ts')).renderRolloutMarkdown(numbers, reports);
}
