/** Reads recordings: one JSON value per line, the first of them a header with the format's version. */
import { createReadStream } from 'node:fs';
import { PodexitError } from '../errors.ts';
import { isRawObservation, type RawObservation } from '../model/observation.ts';
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

/** Throws `recording.invalid` or `recording.newer`. */
export function readHeader(first: unknown, file: string): Header {
  const { podexit, type } = asObject(first);
  if (asNumber(podexit) === undefined)
    throw type === 'about' || type === 'list' ? notConverted(file) : notARecording(file);
  const header = narrowHeader(first);
  if (header.podexit <= recordingVersion) return header;
  throw new PodexitError(
    'recording.newer',
    `${file} was recorded by a newer podexit (format ${header.podexit}; this one reads up to ${recordingVersion})`,
    'Update kubectl-podexit and replay it again.',
  );
}

const notARecording = (file: string): PodexitError =>
  new PodexitError(
    'recording.invalid',
    `${file} is not a podexit recording`,
    'Record one with: kubectl podexit POD --record FILE',
  );

/** The format of a recorder beside the cluster; earlier versions replayed it. */
const notConverted = (file: string): PodexitError =>
  new PodexitError(
    'recording.invalid',
    `${file} contains the lists and watches of a whole namespace, and is not a podexit recording`,
    `In podexit's source code, convert it with: npx tsx scripts/convert-recording.ts ${file} --to FOLDER`,
  );

/** Characters. No observation is nearly as long, and a line is held in memory as a whole. */
const maxLineLength = 64 * 1024 * 1024;

export interface ParsedLine {
  /** Counts from 1. */
  number: number;
  value: unknown;
}

/** The JSON values of the lines. An incomplete last one (of a killed recorder) goes to `onCut`; others are errors. */
export async function* readLines(file: string, onCut: (line: number) => void): AsyncGenerator<ParsedLine> {
  for await (const { number, text, last } of splitLines(file)) {
    if (text.trim() === '') continue;
    // Editors put a byte order mark before the first line: trim removes it.
    const value = parse(text.trim());
    if (value !== undefined) yield { number, value };
    else if (last && number > 1) onCut(number);
    else throw broken(file, number);
  }
}

/** A line of our own format: an observation, as untrusted as a server's answer. Throws an error with its number. */
export function rawObservationOf({ number, value }: ParsedLine, file: string): RawObservation {
  const { seq: _seq, ...observed } = asObject(value);
  if (isRawObservation(observed)) return observed;
  if ('podexit' in observed)
    throw new PodexitError(
      'recording.broken',
      `another recording begins in line ${number} of ${file}`,
      'Split the file before that line, and replay each part.',
    );
  throw new PodexitError(
    'recording.broken',
    `line ${number} of ${file} is not an observation that this podexit knows`,
    'The file was damaged or edited: record it again.',
  );
}

const broken = (file: string, line: number): PodexitError =>
  line === 1
    ? notARecording(file)
    : new PodexitError(
        'recording.broken',
        `line ${line} of ${file} is not a complete observation`,
        'The file was damaged or edited: record it again.',
      );

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** `last`: without a line break. Parts are joined once: at each chunk, a long line would be copied again. */
async function* splitLines(file: string): AsyncGenerator<{ number: number; text: string; last: boolean }> {
  let number = 1;
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunksOf(file)) {
    for (const [index, part] of chunk.split('\n').entries()) {
      if (index > 0) {
        yield { number, text: parts.join(''), last: false };
        [number, parts, length] = [number + 1, [], 0];
      }
      parts.push(part);
      length += part.length;
      if (length > maxLineLength)
        throw new PodexitError(
          'recording.broken',
          `line ${number} of ${file} is longer than ${maxLineLength / 1024 / 1024} MiB`,
          'No observation is: the file was damaged or edited, or is something else.',
        );
    }
  }
  if (length > 0) yield { number, text: parts.join(''), last: true };
}

/** Throws `recording.unreadable`. */
async function* chunksOf(file: string): AsyncGenerator<string> {
  try {
    for await (const chunk of createReadStream(file, { encoding: 'utf8' })) yield String(chunk);
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    const why = readErrorTexts[code] ?? `cannot be read (${code})`;
    throw new PodexitError('recording.unreadable', `the recording ${file} ${why}`, 'Check the path.', { cause });
  }
}

const readErrorTexts: Readonly<Record<string, string>> = { ENOENT: 'does not exist', EISDIR: 'is a directory' };
