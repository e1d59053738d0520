/** The first line of a recording: its format and version. */
import { PodexitError } from '../errors.ts';
import { asNumber, asObject, asText, shape } from '../model/observe/read.ts';

/** Increased when older readers would misread newer files. */
export const recordingVersion = 1;

export type Header = ReturnType<typeof narrowHeader>;

const narrowHeader = shape({
  /** Version of the format. */
  podexit: (raw) => asNumber(raw) ?? recordingVersion,
  /** Version of the program that wrote it. */
  program: asText,
  /** RFC 3339, client clock. */
  recorded: asText,
  /** The recording has log text (`--logs`). */
  logText: (raw) => raw === true,
});

/** The header of our own format; undefined for raw list/watch rows of a namespace (`{"type":"about",…}`). */
export function readHeader(first: unknown, file: string): Header | undefined {
  const { podexit, type } = asObject(first);
  if (asNumber(podexit) === undefined) {
    if (type === 'about' || type === 'list') return undefined;
    throw notARecording(file);
  }
  const header = narrowHeader(first);
  if (header.podexit <= recordingVersion) return header;
  throw new PodexitError(
    'recording.newer',
    `${file} was recorded by a newer podexit (format ${header.podexit}; this one reads up to ${recordingVersion})`,
    'Update kubectl-podexit and replay it again.',
  );
}

export const notARecording = (file: string): PodexitError =>
  new PodexitError(
    'recording.invalid',
    `${file} is not a podexit recording`,
    'Record one with: kubectl podexit POD --record FILE',
  );
