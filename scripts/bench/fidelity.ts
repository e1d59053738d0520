/**
 * `npm run bench:fidelity`: every instant that the container runtime's own log knows, against the interval that the
 * report gives for it: as it was recorded, without the containers' logs, and without Events. Exit 1 where a truth lies
 * outside its interval, where one has no interval that should have one, or where the intervals are too wide to be of use.
 *
 * `--stories N` adds N simulated exits. `--save FILE` keeps the figures; `--compare FILE` prints them beside the kept ones,
 * so that two versions of the inference can be held against each other. `--write` renews the table of docs/fidelity.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { RecordingRow, View } from './fidelity-recordings.ts';
import { nameOfRow, recordingRows, viewNames } from './fidelity-recordings.ts';
import type { StoryFigures } from './fidelity-stories.ts';
import { storyFigures } from './fidelity-stories.ts';
import { printComparison } from './fidelity-compare.ts';
import { recordingNames } from '../../test/helpers/recordings.ts';
import { spreadOf } from './spread.ts';
import { table } from './table.ts';

/** What one version of the inference achieves. */
export interface Figures {
  recordings: RecordingRow[];
  stories?: StoryFigures;
}

/** Largest median width, seconds. */
const limits: Record<View, number> = { withLogs: 0.3, withoutLogs: 1.0, withoutEvents: 2.0 };

/** Not observable once the object is gone, since no status comes any more. The report claims nothing about them. */
const unknowable = [
  'force-delete app kill',
  'forced-by-other app kill',
  'force-delete app exit',
  'forced-by-other app exit',
];

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      stories: { type: 'string' },
      save: { type: 'string' },
      compare: { type: 'string' },
      write: { type: 'boolean' },
    },
  });
  const recordings = await recordingRows();
  const stories = values.stories === undefined ? undefined : storyFigures(Number(values.stories));
  const figures: Figures = { recordings, stories };
  const views = viewNames.map((view) => summaryOf(recordings, view));
  const printed = `${printRows(recordings)}\n${views.map(({ text }) => text).join('')}`;
  process.stdout.write(printed);
  if (values.write === true) writePage(printed);
  if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(figures));
  if (values.compare !== undefined)
    process.stdout.write(printComparison(JSON.parse(readFileSync(values.compare, 'utf8')) as Figures, figures));
  const failures = [...missesOf(recordings), ...views.flatMap(({ failure }) => failure ?? [])];
  failures.forEach((failure) => process.stdout.write(`FAILED: ${failure}\n`));
  return failures.length > 0 ? 1 : 0;
}

/** Puts the table into docs/fidelity.md. */
function writePage(printed: string): void {
  const page = new URL('../../docs/fidelity.md', import.meta.url);
  const [from, to] = ['<!-- figures -->', '<!-- /figures -->'];
  const [before, rest] = readFileSync(page, 'utf8').split(from);
  const after = rest?.split(to)[1];
  if (after === undefined) throw new Error(`docs/fidelity.md has no place for the table: ${from} … ${to}`);
  writeFileSync(page, `${before}${from}\n\n\`\`\`\n${printed}\`\`\`\n\n${to}${after}`);
}

function printRows(all: readonly RecordingRow[]): string {
  const cell = ({ views }: RecordingRow, view: View): string => {
    const held = views[view];
    return held ? `${seconds(held.width)}${held.hit ? '' : ' MISSED'}` : '–';
  };
  return table(
    ['recording', 'container', 'instant', 'with logs', 'without logs', 'without Events'],
    all
      .filter(({ isOneOfMany }) => !isOneOfMany)
      .map((row) => [row.recording, row.container, row.instant, ...viewNames.map((view) => cell(row, view))]),
  );
}

const missesOf = (all: readonly RecordingRow[]): string[] =>
  all.flatMap((row) =>
    viewNames.flatMap((view) => {
      const held = row.views[view];
      if (held?.hit === false) return [`${nameOfRow(row)} ${words[view]}: the truth lies outside`];
      const mayLack =
        view === 'withoutEvents' || unknowable.includes(`${row.recording} ${row.container} ${row.instant}`);
      return held || mayLack ? [] : [`${nameOfRow(row)} ${words[view]}: no interval`];
    }),
  );

/** The medians of one view, and what is wrong with them. Many pods of one recording count as much as one. */
function summaryOf(rows: readonly RecordingRow[], view: View): { text: string; failure?: string } {
  const known = rows.flatMap((row) => {
    const held = row.views[view];
    return held && !row.isOneOfMany ? [{ row, ms: held.width }] : [];
  });
  const all = spreadOf(known.map(({ ms }) => ms));
  const worst = known.find(({ ms }) => ms === all.max);
  const kinds = (['stop-signal', 'kill', 'exit'] as const).map((instant) => {
    const widths = known.filter(({ row }) => row.instant === instant).map(({ ms }) => ms);
    return `${instant} ${widths.length === 0 ? '–' : seconds(spreadOf(widths).median)}`;
  });
  const single = rows.filter(({ isOneOfMany }) => !isOneOfMany).length;
  const text =
    `${words[view]}: median ${seconds(all.median)} s of ${known.length} of ${single} (${kinds.join(', ')}), ` +
    `at most ${limits[view]} s wanted; worst ${seconds(all.max)} s: ${worst ? nameOfRow(worst.row) : 'none'}\n`;
  // The limit is for the calm cluster of the first series; failures and rollouts of others are as wide as they are.
  const calm = spreadOf(known.filter(({ row }) => recordingNames.includes(row.recording)).map(({ ms }) => ms));
  const calmText = `${text}  of the first series alone: median ${seconds(calm.median)} s\n`;
  if (calm.median <= limits[view] * 1000) return { text: calmText };
  const failure = `the median ${words[view]} is ${seconds(calm.median)} s, more than ${limits[view]} s`;
  return { text: calmText, failure };
}

const words: Record<View, string> = {
  withLogs: 'with logs',
  withoutLogs: 'without logs',
  withoutEvents: 'without Events',
};
const seconds = (ms: number): string => (ms / 1000).toFixed(3);

process.exitCode = await main();
