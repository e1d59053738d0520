/** A recording as a source of observations. */
import { rawObservationOf, readHeader, readLines, type ParsedLine } from '../recording/reader.ts';
import { PodexitError } from '../errors.ts';
import type { RawObservation } from '../model/observation.ts';
import { tracesOfLog } from './traces/traces-of-log.ts';

/**
 * `pod`: only this one. `warn` reports a cut-off line. Returns also whether it holds log text, and the target of a run
 * over several pods: `deployment/checkout`. Throws PodexitError if the file is no recording.
 */
export async function openReplay(file: string, warn: (message: string) => void, pod?: string) {
  const lines = readLines(file, (line) =>
    warn(`${file} was cut in line ${line}: the report covers what was recorded until then`),
  );
  const first = await lines.next();
  if (first.done)
    throw new PodexitError(
      'recording.invalid',
      `${file} is empty`,
      'Record one with: kubectl podexit POD --record FILE',
    );
  const header = readHeader(first.value.value, file);
  const traces = tracesOfLog(pod === undefined ? undefined : ({ metadata }) => metadata.name === pod);
  const { head, rawObservations } = await readObservations(lines, file);
  const target = pod === undefined && head?.kind === 'began' && !head.next ? head.target : undefined;
  return { rawObservations, logText: header.logText, traces, target };
}

/** `head`: the first observation. */
async function readObservations(lines: AsyncGenerator<ParsedLine>, file: string) {
  const rawObservations = observationsOf(lines, file);
  const first = await rawObservations.next();
  const head = first.done ? undefined : first.value;
  async function* all(): AsyncGenerator<RawObservation> {
    if (head) yield head;
    yield* rawObservations;
  }
  return { head, rawObservations: all() };
}

/** Throws `recording.broken` at a line that is no observation, or that is 10 s earlier than those before it. */
async function* observationsOf(lines: AsyncGenerator<ParsedLine>, file: string): AsyncGenerator<RawObservation> {
  let latest = -Infinity;
  for await (const line of lines) {
    const rawObservation = rawObservationOf(line, file);
    if (rawObservation.at < latest - 10_000) throw outOfOrder(file, line.number);
    latest = Math.max(latest, rawObservation.at);
    yield rawObservation;
  }
}

const outOfOrder = (file: string, line: number): PodexitError =>
  new PodexitError(
    'recording.broken',
    `line ${line} of ${file} is earlier than the lines before it`,
    'Lines were moved or edited, or several recordings were joined: replay each recording as it was written.',
  );
