/** The first line of a recording: its format and version. */
import { PodexitError } from '../errors.ts';
import { asObject, type JsonObject } from '../model/observe/read.ts';

/** Increased when older readers would misread newer files. */
export const recordingVersion = 1;

export interface Header {
  /** Version of the format. */
  podexit: number;
  /** Version of the program that wrote it. */
  program: string;
  /** RFC 3339, client clock. */
  recorded: string;
  /** The recording has log text (`--logs`). */
  logText: boolean;
}

/** The header of our own format; undefined for raw list/watch rows of a namespace (`{"type":"about",…}`). */
export function readHeader(first: unknown, file: string): Header | undefined {
  const fields = asObject(first);
  if (typeof fields['podexit'] === 'number') return ownHeader(fields, file);
  if (fields['type'] === 'about' || fields['type'] === 'list') return undefined;
  throw notARecording(file);
}

function ownHeader(first: JsonObject, file: string): Header {
  const version = first['podexit'] as number;
  if (version > recordingVersion)
    throw new PodexitError(
      'recording.newer',
      `${file} was recorded by a newer podexit (format ${version}; this one reads up to ${recordingVersion})`,
      'Update kubectl-podexit and replay it again.',
    );
  return {
    podexit: version,
    program: typeof first['program'] === 'string' ? first['program'] : '',
    recorded: typeof first['recorded'] === 'string' ? first['recorded'] : '',
    logText: first['logText'] === true,
  };
}

export const notARecording = (file: string): PodexitError =>
  new PodexitError(
    'recording.invalid',
    `${file} is not a podexit recording`,
    'Record one with: kubectl podexit POD --record FILE',
  );
