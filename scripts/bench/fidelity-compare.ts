/** Two versions of the inference side by side: misses, widths, outcomes, cost. */
import type { Figures } from './fidelity.ts';
import type { RecordingRow } from './fidelity-recordings.ts';
import { nameOfRow, viewNames } from './fidelity-recordings.ts';
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
  const names = Object.keys(after.instants);
  const rows = [
    ['stories', String(before.count), String(after.count)],
    ['stories with something wrong', String(seedsOf(before.wrong)), String(seedsOf(after.wrong))],
    ['stories with an unsent signal', String(before.unsent.length), String(after.unsent.length)],
    ['timeline, median ms', before.solve.median.toFixed(3), after.solve.median.toFixed(3)],
    ['timeline, p99 ms', before.solve.p99.toFixed(3), after.solve.p99.toFixed(3)],
    ...names.map((name) => [`${name}: share given`, shareOf(before, name), shareOf(after, name)]),
    ...names.map((name) => [`${name}: median width, ms`, widthOf(before, name), widthOf(after, name)]),
  ];
  const others = Object.entries(after.outcomes).filter(([seed, what]) => before.outcomes[Number(seed)] !== what);
  const wrong = Object.entries(after.wrong).map(([seed, what]) => `seed ${seed}: ${what.join('; ')}\n`);
  const examples = others
    .slice(0, 40)
    .map(([seed, what]) => `seed ${seed}: ${before.outcomes[Number(seed)]} → ${what}\n`);
  return [
    table(['figure', 'before', 'after'], rows),
    `${others.length} stories with another outcome\n`,
    ...examples,
    `wrong in the later version:\n`,
    ...wrong.slice(0, 60),
  ].join('');
}

const seedsOf = (wrong: StoryFigures['wrong']): number => Object.keys(wrong).length;
const shareOf = ({ instants }: StoryFigures, name: string): string => (instants[name]?.share ?? NaN).toFixed(3);
const widthOf = ({ instants }: StoryFigures, name: string): string => (instants[name]?.median ?? NaN).toFixed(0);
const medianOf = (values: readonly number[]): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
