/** Writes the files of `--report`. */
import { closeSync } from 'node:fs';
import { basename } from 'node:path';
import { causeOf, emptyOutput, openOutput, writeSome } from '../recording/output-file.ts';
import { render, type Views } from './render.ts';
import type { ReportFile } from './formats.ts';
import type { OutputPorts } from './ports.ts';

/** Returns 0, or 1 and a warning on stderr if a file could not be written. */
export async function writeReports<R>(
  views: Views<R>,
  result: R,
  files: readonly ReportFile[],
  ports: OutputPorts,
): Promise<0 | 1> {
  let code: 0 | 1 = 0;
  const write = async ({ file, format }: ReportFile): Promise<void> => {
    try {
      await writeWhole(file, await render(format, views, result), ports);
    } catch (error) {
      code = 1;
      ports.stderr.write(`podexit: the report ${file} could not be written (${causeOf(error)})\n`);
    }
  };
  await Promise.all(files.map(write));
  return code;
}

/** The file of one pod, by its unique name: `exits/web-0.html` for `exits/POD.html`. */
export function fileOfPod({ file, format }: ReportFile, pod: string): ReportFile {
  return { file: `${file.slice(0, -basename(file).length)}${basename(file).replace('POD', () => pod)}`, format };
}

/** Waits for a slow reader, as every command in a pipe does, but not for a reader that never opens the pipe. */
async function writeWhole(file: string, text: string, { clock }: OutputPorts): Promise<void> {
  const output = openOutput(file, 0o666);
  try {
    emptyOutput(output);
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) {
      const taken = writeSome(output, bytes, written);
      written += taken;
      if (taken === 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, 20));
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
