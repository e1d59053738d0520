/** Two versions of the inference side by side: misses, widths, outcomes, cost. */
import type { Figures } from './fidelity.ts';
import { nameOfRow, viewNames, type RecordingRow } from './fidelity-recordings.ts';
import type { StoryFigures } from './fidelity-stories.ts';
import { quantile } from './spread.ts';
import { table } from './table.ts';

export function printComparison(before: Figures, after: Figures): string {
  const stories = before.stories && after.stories ? compareStories(before.stories, after.stories) : '';
  return `\n${compareRecordings(before.recordings, after.recordings)}${stories}`;
}

function compareRecordings(before: readonly RecordingRow[], after: readonly RecordingRow[]): string {
  const figures = viewNames.flatMap((view) => {
    const of = (rows: readonly RecordingRow[]) => rows.flatMap((row) => row.views[view] ?? []);
    const median = (rows: readonly RecordingRow[]) => medianOf(of(rows).map(({ width }) => width));
    const missed = (rows: readonly RecordingRow[]) => of(rows).filter(({ hit }) => !hit).length;
    return [
      [`recordings, ${view}: instants`, String(of(before).length), String(of(after).length)],
      [`recordings, ${view}: missed`, String(missed(before)), String(missed(after))],
      [`recordings, ${view}: median width, ms`, median(before).toFixed(0), median(after).toFixed(0)],
    ];
  });
  const others = after.flatMap((row) => {
    const old = before.find((one) => nameOfRow(one) === nameOfRow(row));
    return viewNames.flatMap((view) =>
      old && old.outcomes[view] !== row.outcomes[view]
        ? [`${nameOfRow(row)} ${view}: ${old.outcomes[view]} → ${row.outcomes[view]}\n`]
        : [],
    );
  });
  return `${table(['figure', 'before', 'after'], figures)}${others.join('')}`;
}

function compareStories(before: StoryFigures, after: StoryFigures): string {
  const others = Object.entries(after.outcomes).filter(([seed, what]) => before.outcomes[Number(seed)] !== what);
  const examples = others
    .slice(0, 40)
    .map(([seed, what]) => `seed ${seed}: ${before.outcomes[Number(seed)]} → ${what}\n`);
  return [
    table(['figure', 'before', 'after'], storyRows([before, after])),
    `${others.length} stories with another outcome\n`,
    ...examples,
    `wrong in the later version:\n`,
    wrongIn(after),
  ].join('');
}

/** What one version of the inference says about simulated exits. */
export const printStories = (figures: StoryFigures): string =>
  `\n${table(['figure', 'now'], storyRows([figures]))}${wrongIn(figures)}`;

/** A column for each version, with the newest as the last. */
function storyRows(versions: readonly StoryFigures[]): string[][] {
  const row = (name: string, valueOf: (version: StoryFigures) => number, digits = 0): string[] => [
    name,
    ...versions.map((version) => valueOf(version).toFixed(digits)),
  ];
  const names = Object.keys(versions.at(-1)?.instants ?? {});
  return [
    row('stories', ({ count }) => count),
    row('stories with something wrong', ({ wrong }) => Object.keys(wrong).length),
    row('stories with an unsent signal', ({ unsent }) => unsent.length),
    row('timeline, median ms', ({ solve }) => solve.median, 3),
    row('timeline, p99 ms', ({ solve }) => solve.p99, 3),
    ...names.map((name) => row(`${name}: share given`, ({ instants }) => instants[name]?.share ?? NaN, 3)),
    ...names.map((name) => row(`${name}: median width, ms`, ({ instants }) => instants[name]?.median ?? NaN)),
  ];
}

const wrongIn = ({ wrong }: StoryFigures): string =>
  Object.entries(wrong)
    .slice(0, 60)
    .map(([seed, what]) => `seed ${seed}: ${what.join('; ')}\n`)
    .join('');

const medianOf = (values: readonly number[]): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
