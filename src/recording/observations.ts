/** Our own recordings: one observation per line, read as raw observations, as untrusted as a server's. */
import { PodexitError } from '../errors.ts';
import { isRawObservation, type RawObservation } from '../model/observation.ts';
import { asObject } from '../model/observe/read.ts';
import type { ParsedLine } from './read-lines.ts';

/** Parses a recorded line. Throws an error with the line number if it is not an observation. */
export function rawObservationOf({ number, value }: ParsedLine, file: string): RawObservation {
  const { seq: _seq, ...observed } = asObject(value);
  if (isRawObservation(observed)) return observed;
  throw new PodexitError(
    'recording.broken',
    `line ${number} of ${file} is not an observation that this podexit knows`,
    'The file was damaged or edited: record it again.',
  );
}
