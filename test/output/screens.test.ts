/**
 * Screens of the live view as a person sees them. A new case is a new file in screens/ with one line in it, e.g.
 * `graceful-exit 80x24 at 3`, and the rest written by `vitest run test/output/screens.test.ts -u`: then read it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tracedPodOf } from '../helpers/recordings.ts';
import { play } from './helpers/theatre.ts';
import type { Screen } from './helpers/screen.ts';
import { allLines, screenOf } from './helpers/screen.ts';

const folder = fileURLToPath(new URL('./screens/', import.meta.url));
const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));

/** `RECORDING COLSxROWS (at SECONDS | at the end) [then COLSxROWS at SECONDS] [ascii] [with history]`. */
const title =
  /^(?<recording>\S+) (?<columns>\d+)x(?<rows>\d+) at (?<until>[\d.]+|the end)(?:, resized to (?<wide>\d+)x(?<high>\d+) at (?<when>[\d.]+))?(?<ascii>, ascii)?(?<whole>, with history)?$/;

it.each(files)('matches %s', async (file) => {
  const first = readFileSync(`${folder}${file}`, 'utf8').split('\n')[0] ?? '';
  const { recording = '', columns, rows, until, wide, high, when, ascii, whole } = title.exec(first)?.groups ?? {};
  const size = { columns: Number(columns), rows: Number(rows) };
  const { happenings, live } = play(await tracedPodOf(recording), {
    ...size,
    style: { color: true, unicode: ascii === undefined },
    ...(until === 'the end' ? {} : { until: Number(until) }),
    ...(when === undefined ? {} : { resize: { at: Number(when), columns: Number(wide), rows: Number(high) } }),
  });
  const screen = await screenOf(size, happenings);
  live.close();
  const last = wide === undefined ? size : { columns: Number(wide), rows: Number(high) };
  await expect(`${first}\n${printed(screen, last, whole !== undefined)}\n`).toMatchFileSnapshot(`${folder}${file}`);
});

/** The window in a box, so that its edges and blank lines show. */
function printed(screen: Screen, { columns }: { columns: number }, whole: boolean): string {
  const lines = whole ? allLines(screen) : screen.window;
  const edge = `+${'-'.repeat(columns)}+`;
  const cursor = `cursor ${screen.cursorHidden ? 'hidden' : 'shown'} at row ${screen.cursor.row + 1}`;
  return [edge, ...lines.map((line) => `|${line}`), edge, cursor].join('\n');
}
