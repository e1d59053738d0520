/** Converts a recording of a whole namespace into the observations that a live run would have recorded. */
import { readFileSync } from 'node:fs';
import type { RawObservation } from '../../src/model/observation.ts';
import { recordingVersion } from '../../src/recording/reader.ts';
import { endedLikeLive } from './end-like-live.ts';
import { narrowToAll, narrowToPod } from './narrow.ts';
import { rowOf, type Row } from './rows.ts';
import { coversSeveralPods, subjectOf, type Subject } from './subject.ts';

/** The rows of the file, in order of arrival. Throws an Error if a line is no JSON. */
export const readRows = (file: string): Row[] =>
  rowsOf(
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as unknown),
  );

export const rowsOf = (values: readonly unknown[]): Row[] =>
  values.flatMap((value) => rowOf(value) ?? []).sort((a, b) => a.at - b.at);

/** The text of the recording. */
export function recordingOf(rows: readonly Row[]): string {
  const recorded = new Date(rows[0]?.at ?? 0).toISOString();
  const header = { podexit: recordingVersion, program: 'convert-recording', recorded, logText: true };
  return [header, ...convert(rows)].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** One trace of all terminating pods if the recorder singled out none, else of the pod that it deleted or followed. */
const convert = (rows: readonly Row[]): Iterable<RawObservation> =>
  coversSeveralPods(rows) ? endedLikeLive(narrowToAll(rows)) : convertPod(rows);

/** The trace of one pod. */
export const convertPod = (
  rows: readonly Row[],
  subject: Subject | undefined = subjectOf(rows),
): Iterable<RawObservation> => endedLikeLive(narrowToPod(rows, subject));
