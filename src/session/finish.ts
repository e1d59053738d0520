/** What is done with the report of a finished run: stdout, report files, exit code. */
import { writeFile } from 'node:fs/promises';
import { PodexitError } from '../errors.ts';
import type { ExitReport } from '../trace/report.ts';
import type { Trace } from '../trace/trace.ts';
import type { Policy } from '../verdict/judge.ts';
import { reportOf } from '../verdict/report.ts';
import type { LookOptions, Stage } from './audience.ts';
import { isDocument, renderDocument } from './documents.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';
import type { Publish } from './publish.ts';
import { publish } from './publish.ts';

export interface ReportFile {
  file: string;
  format: Format;
}

export interface FinishOptions {
  policy: Policy;
  reports: readonly ReportFile[];
  /** What stdout speaks. */
  format: Format;
  publish: Publish;
}

/** Shows the report, writes the files, tells others, and says with which code to leave. `failed`: something else could not be done. */
export async function finish(
  trace: Trace,
  options: FinishOptions,
  stage: Stage,
  ports: Ports,
  failed: boolean,
): Promise<number> {
  const report = reportOf(trace, options.policy);
  if (!report) throw nothingSeen();
  await stage.end(trace, report);
  return conclude(report, options, ports, failed);
}

/** The same for a report that no trace is behind: a forecast. */
export async function finishReport(
  report: ExitReport,
  options: FinishOptions & { look: LookOptions },
  ports: Ports,
): Promise<number> {
  ports.stdout.write(await shownText(report, options.format, options.look, ports));
  return conclude(report, options, ports, false);
}

/** What stdout gets of a whole report: a document, or the lines for a person. */
export async function shownText(report: ExitReport, format: Format, look: LookOptions, ports: Ports): Promise<string> {
  return isShown(format) ? await textOf(report, look, ports) : await contentOf(format, report);
}

/** Report files of one of several pods, each named after its pod: `exit.html` becomes `exit-POD.html`. 0, or 1. */
export async function finishFiles(report: ExitReport, files: readonly ReportFile[], ports: Ports): Promise<number> {
  const own = files.map(({ file, format }) => ({ file: fileOf(file, report.pod.name), format }));
  const written = await Promise.all(own.map((one) => writeReport(one, report, ports)));
  return written.includes(false) ? 1 : 0;
}

const fileOf = (file: string, pod: string): string => file.replace(/((?:\.junit)?\.[^./\\]+)$/, `-${pod}$1`);

const isShown = ({ kind }: Format): boolean => kind === 'live' || kind === 'lines';

async function textOf(report: ExitReport, look: LookOptions, { stdout, env, platform }: Ports): Promise<string> {
  const { renderText } = await import('../render/lines.ts');
  const { styleOf } = await import('../render/palette.ts');
  const style = styleOf(look, { env, isTty: stdout.isTty, platform });
  return renderText(report, { style, ...(stdout.isTty ? { columns: stdout.columns() } : {}) });
}

async function conclude(
  report: ExitReport,
  { reports, format, publish: publicity }: FinishOptions,
  ports: Ports,
  failed: boolean,
): Promise<number> {
  const written = await Promise.all(reports.map((one) => writeReport(one, report, ports)));
  await publish(report, publicity, format, ports);
  // DESIGN.md §4: of several codes that hold, 1 comes first; a signal's own code stands above all.
  return (failed || written.includes(false)) && report.verdict.exitCode < 128 ? 1 : report.verdict.exitCode;
}

const nothingSeen = (): PodexitError =>
  new PodexitError(
    'trace.empty',
    'nothing was observed of the pod',
    'Run it again, or check that the recording holds the pod.',
  );

async function writeReport({ file, format }: ReportFile, report: ExitReport, { stderr }: Ports): Promise<boolean> {
  try {
    await writeFile(file, await contentOf(format, report));
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    stderr.write(`podexit: the report ${file} could not be written (${code ?? message})\n`);
    return false;
  }
}

async function contentOf(format: Format, report: ExitReport): Promise<string> {
  if (isDocument(format)) return renderDocument(format, report);
  const { createNdjson } = await import('../render/ndjson.ts');
  let text = '';
  createNdjson((line) => (text += line)).end(report);
  return text;
}
