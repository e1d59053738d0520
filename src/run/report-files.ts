/** The files of `--report`, written when the report is there. */
import { closeSync } from 'node:fs';
import { causeOf, emptyOutput, openOutput, writeSome } from '../recording/output-file.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import { renderDocument } from './documents.ts';
import { isDocument, type Format } from './formats.ts';
import type { Ports } from './ports.ts';
import type { ReportFile } from './writable.ts';

/** False, and a warning on stderr, where it could not be written. */
export async function writeReport({ file, format }: ReportFile, report: Report, ports: Ports): Promise<boolean> {
  try {
    await writeWhole(file, await contentOf(format, report), ports);
    return true;
  } catch (error) {
    ports.stderr.write(`podexit: the report ${file} could not be written (${causeOf(error)})\n`);
    return false;
  }
}

/** ms between two looks at a pipe that is full. */
const napMs = 20;

/** Waits for a reader that is slow, as every command in a pipe does, but not for one that never comes. */
async function writeWhole(file: string, text: string, { clock }: Ports): Promise<void> {
  const output = openOutput(file, 0o666);
  try {
    emptyOutput(output);
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) {
      const taken = writeSome(output, bytes, written);
      written += taken;
      if (taken === 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, napMs));
    }
  } finally {
    closeSync(output.descriptor);
  }
}

/** Report files of one of several pods, each named after its pod: `exit.html` becomes `exit-POD.html`. 0, or 1. */
export async function finishFiles(
  report: Report,
  pod: string,
  files: readonly ReportFile[],
  ports: Ports,
): Promise<number> {
  const own = files.map(({ file, format }) => ({ file: ownFile(file, pod), format }));
  const written = await Promise.all(own.map((one) => writeReport(one, report, ports)));
  return written.includes(false) ? 1 : 0;
}

/** Names pods apart: a StatefulSet's next pod has the name of the last one, and is called `web-0-2`. */
export function ownNames(): (pod: { name: string; uid: string }) => string {
  const owners = new Map<string, string>();
  return ({ name, uid }) => {
    for (let nth = 1; ; nth++) {
      const own = nth === 1 ? name : `${name}-${nth}`;
      if (!owners.has(own)) owners.set(own, uid);
      if (owners.get(own) === uid) return own;
    }
  };
}

/** `exit.html` of one of several pods, also where the name has no ending; /dev/stdout and the like take all of them. */
export const ownFile = (file: string, pod: string): string =>
  file.startsWith('/dev/')
    ? file
    : file.replace(/((?:\.junit)?\.[^./\\]+)?$/, (ending: string | undefined = '') => `-${pod}${ending}`);

/** A report as the text of a format. */
export async function contentOf(format: Format, report: Report): Promise<string> {
  if (isDocument(format)) return renderDocument(format, report);
  const { createNdjson } = await import('../render/ndjson.ts');
  let text = '';
  createNdjson((line) => (text += line)).end(exitReportOf(report));
  return text;
}
