/** `replay FOLDER`: the recordings of a folder, each with its answer in one line. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PodexitError } from '../errors.ts';
import { penFor, styleOf } from '../output/palette.ts';
import { forTerminal } from '../output/safe-text.ts';
import { tableLines } from '../output/text/table.ts';
import { exitSentence, rolloutSentence } from '../output/text/wide.ts';
import type { Report } from '../verdict/report.ts';
import { rolloutNumbers } from '../verdict/rollout.ts';
import type { Ports } from './ports.ts';

/** Returns 0, or 1 if one of them cannot be read. Throws `recording.none`. */
export async function listRecordings(
  folder: string,
  read: (file: string) => Promise<Report[]>,
  ports: Ports,
): Promise<number> {
  const names = (await readdir(folder)).filter((name) => /\.ndjson(\.gz|\.zst)?$/i.test(name)).sort();
  if (names.length === 0)
    throw new PodexitError(
      'recording.none',
      `${folder} has no recording`,
      'A recording is a file that ends in .ndjson. Make one with: kubectl podexit POD --record FILE.ndjson',
    );
  let code = 0;
  const rows: string[][] = [];
  for (const name of names) {
    const answer = await read(join(folder, name))
      .then(([first, ...more]) => {
        if (!first) return '? no pod in it terminates';
        if (more.length === 0) return exitSentence(first);
        return rolloutSentence(rolloutNumbers(`${more.length + 1} pods`, [first, ...more]));
      })
      .catch((error: unknown) => {
        if (!(error instanceof PodexitError)) throw error;
        code = 1;
        return `? ${error.message}`;
      });
    rows.push([forTerminal(name), forTerminal(answer, 1000)]);
  }
  const { stdout } = ports;
  const pen = penFor(styleOf({ color: 'auto', ascii: false }, { ...ports, isTty: stdout.isTty }));
  const lines = tableLines(pen, [['RECORDING', 'RESULT'], ...rows], stdout.columns());
  stdout.write(`${lines.join('\n')}\n`);
  return code;
}
