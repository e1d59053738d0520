/**
 * `npm run bench:fidelity`: every instant that the container runtime's own log knows, against the interval that the
 * report gives for it, with and without the containers' logs. Exit 1 where a truth lies outside its interval, where one
 * has no interval that should have one, or where the intervals are too wide to be of use. docs/fidelity.md explains.
 */
import type { Sighting } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import {
  mustReport,
  observationsOf,
  recordingNames,
  sightingsOf,
  traceOf,
  truthsOf,
} from '../../test/helpers/recordings.ts';
import { heldAgainst } from '../../test/helpers/truth.ts';
import type { Held } from '../../test/helpers/truth.ts';
import { spreadOf } from './spread.ts';
import { table } from './table.ts';

/** Largest median width, seconds. */
const limits = { withLogs: 0.3, withoutLogs: 1.0 };

type View = keyof typeof limits;

/** Nothing tells these once the object is gone: no status comes any more. The report says so by claiming nothing. */
const unknowable: Record<View, string[]> = {
  withLogs: ['force-delete app kill'],
  withoutLogs: ['force-delete app kill', 'force-delete app exit'],
};

interface Row {
  scenario: string;
  container: string;
  instant: Held['instant'];
  withLogs: Held | undefined;
  withoutLogs: Held | undefined;
}

async function main(): Promise<number> {
  const rows: Row[] = [];
  for (const name of recordingNames) rows.push(...(await rowsFor(name)));
  const views = [summaryOf(rows, 'withLogs'), summaryOf(rows, 'withoutLogs')];
  const failures = [...missesOf(rows), ...views.flatMap(({ failure }) => failure ?? [])];
  process.stdout.write(`${printRows(rows)}\n${views.map(({ text }) => text).join('')}`);
  failures.forEach((failure) => process.stdout.write(`FAILED: ${failure}\n`));
  return failures.length > 0 ? 1 : 0;
}

async function rowsFor(scenario: string): Promise<Row[]> {
  const sightings = await sightingsOf(scenario);
  const withLogs = held(scenario, sightings);
  const withoutLogs = held(scenario, sightings.filter(isNoLog));
  return wantedOf(scenario).map(({ container, instant }) => {
    const same = (one: Held) => one.container === container && one.instant === instant;
    return { scenario, container, instant, withLogs: withLogs.find(same), withoutLogs: withoutLogs.find(same) };
  });
}

const held = (scenario: string, sightings: readonly Sighting[]): Held[] =>
  heldAgainst(reportOfSightings(sightings), truthsOf(scenario));

const reportOfSightings = (sightings: readonly Sighting[]): ExitReport =>
  mustReport(traceOf(observationsOf(sightings)));

const isNoLog = ({ kind }: Sighting): boolean => !['log-opened', 'line', 'log-ended'].includes(kind);

/** What the truth file knows, so that a truth without a claim shows as a hole and not as a row less. */
const wantedOf = (scenario: string): Pick<Row, 'container' | 'instant'>[] =>
  truthsOf(scenario).flatMap(({ container, stop_signal_sent, sigkill_sent, exited }) => [
    ...(stop_signal_sent === undefined ? [] : [{ container, instant: 'stop-signal' as const }]),
    ...(sigkill_sent === undefined ? [] : [{ container, instant: 'kill' as const }]),
    ...(exited === undefined ? [] : [{ container, instant: 'exit' as const }]),
  ]);

function printRows(all: readonly Row[]): string {
  const width = (one: Held | undefined): string => (one ? seconds(one.width) : '–');
  return table(
    ['scenario', 'container', 'instant', 'with logs', 'without', 'hit'],
    all.map((row) => [
      row.scenario,
      row.container,
      row.instant,
      width(row.withLogs),
      width(row.withoutLogs),
      isHit(row, 'withLogs') && isHit(row, 'withoutLogs') ? 'yes' : 'NO',
    ]),
  );
}

const isHit = (row: Row, view: View): boolean => row[view]?.hit ?? unknowable[view].includes(nameOf(row));

function missesOf(all: readonly Row[]): string[] {
  return all.flatMap((row) =>
    (['withLogs', 'withoutLogs'] as const)
      .filter((view) => !isHit(row, view))
      .map((view) => `${nameOf(row)} ${words[view]}: ${row[view] ? 'the truth lies outside' : 'no interval'}`),
  );
}

/** The medians of one view, and what is wrong with them. */
function summaryOf(rows: readonly Row[], view: View): { text: string; failure?: string } {
  const known = rows.flatMap((row) => (row[view] ? [{ row, ms: row[view].width }] : []));
  const all = spreadOf(known.map(({ ms }) => ms));
  const worst = known.find(({ ms }) => ms === all.max);
  const kinds = (['stop-signal', 'kill', 'exit'] as const).map((instant) => {
    const { median } = spreadOf(known.filter(({ row }) => row.instant === instant).map(({ ms }) => ms));
    return `${instant} ${seconds(median)}`;
  });
  const text =
    `${words[view]}: median ${seconds(all.median)} s of ${known.length} of ${rows.length} (${kinds.join(', ')}), ` +
    `at most ${limits[view]} s wanted; worst ${seconds(all.max)} s: ${worst ? nameOf(worst.row) : 'none'}\n`;
  if (all.median <= limits[view] * 1000) return { text };
  return { text, failure: `the median ${words[view]} is ${seconds(all.median)} s, more than ${limits[view]} s` };
}

const words = { withLogs: 'with logs', withoutLogs: 'without logs' } as const;
const nameOf = ({ scenario, container, instant }: Row): string => `${scenario} ${container} ${instant}`;
const seconds = (ms: number): string => (ms / 1000).toFixed(3);

process.exitCode = await main();
