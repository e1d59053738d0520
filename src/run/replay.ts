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
  const rest = observationsOf(lines, file);
  const { value: head } = (await rest.next()) as { value: RawObservation | undefined };
  async function* all(): AsyncGenerator<RawObservation> {
    if (head) yield head;
    yield* rest;
  }
  const target = pod === undefined && head?.kind === 'began' && !head.next ? head.target : undefined;
  return { rawObservations: all(), logText: header.logText, traces, target };
}

/** Throws `recording.broken` at a line that is no observation, or that is 10 s earlier than those before it. */
async function* observationsOf(lines: AsyncGenerator<ParsedLine>, file: string): AsyncGenerator<RawObservation> {
  let latest = -Infinity;
  for await (const line of lines) {
    const rawObservation = rawObservationOf(line, file);
    if (rawObservation.at < latest - 10_000)
      throw new PodexitError(
        'recording.broken',
        `line ${line.number} of ${file} is earlier than the lines before it`,
        'Lines were moved or edited, or several recordings were joined: replay each recording as it was written.',
      );
    latest = Math.max(latest, rawObservation.at);
    yield rawObservation;
  }
}
