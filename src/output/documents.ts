/**
 * Where a report goes: stdout, the files of `--report`, GitHub Actions and an OpenTelemetry collector. Each renderer is
 * loaded only when needed.
 */
import type { Report } from '../verdict/report.ts';
import type { RolloutNumbers } from '../verdict/rollout.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import { isDocument, type Format } from './formats.ts';
import { closeSync } from 'node:fs';
import { appendFile, stat } from 'node:fs/promises';
import { causeOf, emptyOutput, openOutput, writeSome } from '../recording/output-file.ts';
import type { OutputPorts } from './ports.ts';
import type { ReportFile } from './writable.ts';

/** The formats that are no form of the JSON report. */
const renderers: Partial<Record<Format['kind'], () => Promise<(report: Report) => string>>> = {
  name: async () => (await import('./text/wide.ts')).renderName,
  wide: async () => (await import('./text/wide.ts')).renderWide,
  markdown: async () => (await import('./machine/markdown.ts')).renderMarkdown,
  html: async () => (await import('./html/page.ts')).renderHtml,
  junit: async () => (await import('./machine/junit.ts')).renderJunit,
  text: async () => (await import('./text/lines.ts')).renderText,
};

export async function renderDocument(format: Format, report: Report): Promise<string> {
  const render = await renderers[format.kind]?.();
  return render ? render(report) : serialise(format, exitReportOf(report));
}

/** The JSON report of one pod or of several, in the format's form. */
export async function serialise(format: Format, report: object): Promise<string> {
  switch (format.kind) {
    case 'yaml':
      return (await import('./machine/yaml.ts')).yamlText(report);
    case 'jsonpath':
      return (await import('./machine/jsonpath.ts')).renderJsonPath(report, format.template);
    case 'jsonpath-as-json':
      return (await import('./machine/jsonpath.ts')).renderJsonPathAsJson(report, format.template);
    default:
      return (await import('./machine/json.ts')).renderJson(report);
  }
}

/** A run over several pods as one document. */
export async function renderRollout(
  kind: 'html' | 'markdown' | 'junit' | 'wide',
  numbers: RolloutNumbers,
  reports: readonly Report[],
): Promise<string> {
  if (kind === 'html') return (await import('./html/page.ts')).renderRolloutHtml(numbers, reports);
  if (kind === 'junit') return (await import('./machine/junit.ts')).renderRolloutJunit(numbers, reports);
  if (kind === 'wide') return (await import('./text/wide.ts')).wideTable(reports);
  return (await import('./machine/markdown.ts')).renderRolloutMarkdown(numbers, reports);
}

/**
 * Writes the files of a report. In a run over several pods, `pod` becomes part of the file name: `exit.html` becomes
 * `exit-POD.html`. Returns 0, or 1 and a warning on stderr if a file could not be written.
 */
export async function writeReports(
  report: Report,
  files: readonly ReportFile[],
  ports: OutputPorts,
  pod?: string,
): Promise<0 | 1> {
  let code: 0 | 1 = 0;
  const write = async ({ file: named, format }: ReportFile): Promise<void> => {
    const file = pod === undefined ? named : fileOfPod(named, pod);
    try {
      await writeWhole(file, await contentOf(format, report), ports);
    } catch (error) {
      code = 1;
      ports.stderr.write(`podexit: the report ${file} could not be written (${causeOf(error)})\n`);
    }
  };
  await Promise.all(files.map(write));
  return code;
}

/** ms between two attempts to write to a full pipe. */
const fullPipePauseMs = 20;

/** Waits for a slow reader, as every command in a pipe does, but not for a reader that never opens the pipe. */
async function writeWhole(file: string, text: string, { clock }: OutputPorts): Promise<void> {
  const output = openOutput(file, 0o666);
  try {
    emptyOutput(output);
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) {
      const taken = writeSome(output, bytes, written);
      written += taken;
      if (taken === 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, fullPipePauseMs));
    }
  } finally {
    closeSync(output.descriptor);
  }
}

/** A unique name for each pod: a StatefulSet's next pod has the same name as the last, and is called `web-0-2`. */
export function uniquePodNames(): (pod: { name: string; uid: string }) => string {
  const owners = new Map<string, string>();
  return ({ name, uid }) => {
    for (let nth = 1; ; nth++) {
      const own = nth === 1 ? name : `${name}-${nth}`;
      if (!owners.has(own)) owners.set(own, uid);
      if (owners.get(own) === uid) return own;
    }
  };
}

/** The file of one of several pods: `exit-POD.html` for `exit.html`. Devices such as /dev/stdout take all reports. */
export const fileOfPod = (file: string, pod: string): string =>
  file.startsWith('/dev/')
    ? file
    : file.replace(/((?:\.junit)?\.[^./\\]+)?$/, (ending: string | undefined = '') => `-${pod}${ending}`);

/** A report as the text of a format. */
async function contentOf(format: Format, report: Report): Promise<string> {
  if (isDocument(format)) return renderDocument(format, report);
  const { createNdjson } = await import('./machine/ndjson.ts');
  let text = '';
  createNdjson((line) => (text += line)).end(exitReportOf(report));
  return text;
}

/** Where else a report goes. */
export interface Publish {
  /** Absent: only if GITHUB_ACTIONS is `true`. */
  readonly github?: boolean;
  /** `auto`: only if the environment names a collector. */
  readonly otlp: 'always' | 'auto' | 'never';
}

/** GitHub annotations and an OpenTelemetry trace, if configured. A failure only warns; the exit code stays. */
export async function publish(
  report: Report,
  { github, otlp }: Publish,
  format: Format,
  ports: OutputPorts,
): Promise<void> {
  const { env } = ports;
  if (github ?? env['GITHUB_ACTIONS'] === 'true') await publishToGithub(report, format, ports);
  // Empty counts as not set, as in OpenTelemetry's specification.
  const named = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (otlp === 'always' || (otlp === 'auto' && named)) {
    const { exportTrace } = await import('../export/export-trace.ts');
    const failure = await exportTrace(exitReportOf(report), { env, version: ports.version });
    if (failure !== undefined) ports.stderr.write(`podexit: the trace was not exported: ${failure}\n`);
  }
}

/**
 * Annotations as workflow commands, and the report in the step's summary. A summary that cannot be written is only a
 * warning, because the step has done its work. The runner reads commands from both streams of a step (actions/runner,
 * ScriptHandler: one OutputManager each), though only stdout is documented: they go to stdout if stdout has lines for
 * people, else to stderr.
 */
async function publishToGithub(report: Report, format: Format, { stdout, stderr, env }: OutputPorts): Promise<void> {
  const { githubAnnotations, githubSummary, summaryBytes } = await import('./machine/github.ts');
  const commands = ['lines', 'live', 'text'].includes(format.kind) ? stdout : stderr;
  for (const annotation of githubAnnotations(report)) commands.write(`${annotation}\n`);
  const file = env['GITHUB_STEP_SUMMARY'] ?? '';
  if (file === '') return;
  try {
    // Everything that a step writes counts towards the size limit; exceeding it fails the step.
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    const room = summaryBytes - size;
    if (room > 0) await appendFile(file, githubSummary(report, room));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    stderr.write(`podexit: the step summary ${file} could not be written (${code ?? message})\n`);
  }
}
