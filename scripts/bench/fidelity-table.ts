/** The table of docs/fidelity.md: the width of each instant of each recording in each view, and whether it is wrong. */
import { recordingNames } from '../../test/helpers/recordings.ts';
import { nameOfRow, viewNames, type RecordingRow, type View } from './fidelity-recordings.ts';
import { spreadOf } from './spread.ts';
import { table } from './table.ts';

/** The largest allowed median width, seconds. */
const limits: Record<View, number> = {
  withLogs: 0.3,
  withoutLogs: 1.0,
  withoutEvents: 2.0,
  withoutSlices: 0.3,
  withoutLeases: 0.3,
};

/** Not observable, because no status arrives after the object is gone. The report claims nothing about them. */
const unknowable = [
  'force-delete app kill',
  'forced-by-other app kill',
  'force-delete app exit',
  'forced-by-other app exit',
];

/** The text that is printed and put into the page. */
export function figuresOf(recordings: readonly RecordingRow[]): { text: string; failures: string[] } {
  const views = viewNames.map((view) => summaryOf(recordings, view));
  return {
    text: `${printRows(recordings)}\n${views.map(({ text }) => text).join('')}${contradictionsIn(recordings)}`,
    failures: [...missesOf(recordings), ...views.flatMap(({ failure }) => failure ?? [])],
  };
}

function contradictionsIn(rows: readonly RecordingRow[]): string {
  const contradicted = new Set(rows.filter((row) => row.contradictions > 0).map(({ recording }) => recording));
  const names = contradicted.size === 0 ? '' : `: ${[...contradicted].join(', ')}`;
  return `recordings with evidence that other evidence contradicts: ${contradicted.size}${names}\n`;
}

function printRows(all: readonly RecordingRow[]): string {
  const cell = ({ views }: RecordingRow, view: View): string => {
    const held = views[view];
    return held ? `${seconds(held.width)}${held.hit ? '' : ' MISSED'}` : '–';
  };
  return table(
    ['recording', 'container', 'instant', ...viewNames.map((view) => words[view])],
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

/** The medians of one view, and what is wrong with them. It uses only the first pod of each recording. */
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
  // The limit is for the calm cluster of the first series; failures and rollouts in other series may be wider.
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
  withoutSlices: 'without slices',
  withoutLeases: 'without Leases',
};
const seconds = (ms: number): string => (ms / 1000).toFixed(3);
