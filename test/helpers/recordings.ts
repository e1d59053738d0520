/** The recorded deletions that tests walk: a new case is a new file in test/recordings. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readLines } from '../../src/recording/read-lines.ts';
import { rowOf } from '../../src/recording/rows.ts';
import type { Row } from '../../src/recording/rows.ts';
import { openReplay } from '../../src/run/replay.ts';
import { observe } from '../../src/model/observe.ts';
import type { Observation, Sighting } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { emptyTrace } from '../../src/model/empty-trace.ts';
import type { Trace } from '../../src/model/trace.ts';
import { reportOf } from '../../src/verdict/report.ts';

const recordingsFolder = fileURLToPath(new URL('../recordings/', import.meta.url));

export const recordingNames: string[] = readdirSync(recordingsFolder)
  .filter((file) => file.endsWith('.ndjson'))
  .map((file) => file.replace('.ndjson', ''))
  .sort();

export const recordingFile = (name: string): string => `${recordingsFolder}${name}.ndjson`;

/** What the container runtime's own log says; times on the node's clock. */
export interface Truth {
  pod: string;
  container: string;
  stop_signal_sent?: string;
  sigkill_sent?: string;
  exited?: string;
  exit_status?: number;
}

export const truthsOf = (name: string): Truth[] =>
  JSON.parse(readFileSync(`${recordingsFolder}${name}.truth.json`, 'utf8')) as Truth[];

export async function sightingsOf(name: string): Promise<Sighting[]> {
  const { sightings } = await openReplay(recordingFile(name), (message) => {
    throw new Error(message);
  });
  const all: Sighting[] = [];
  for await (const sighting of sightings) all.push(sighting);
  return all;
}

export async function rowsOf(name: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const line of readLines(recordingFile(name), () => {})) {
    const row = rowOf(line);
    if (row) rows.push(row);
  }
  return rows;
}

export const observationsOf = (sightings: readonly Sighting[]): Observation[] =>
  sightings.map((sighting, index) => observe(sighting, index + 1, { logText: false }));

export const traceOf = (observations: readonly Observation[]): Trace => observations.reduce(reduce, emptyTrace);

export async function reportOfRecording(name: string): Promise<ExitReport> {
  return mustReport(traceOf(observationsOf(await sightingsOf(name))));
}

export function mustReport(trace: Trace): ExitReport {
  const report = reportOf(trace);
  if (!report) throw new Error('the trace has no report');
  return report;
}
