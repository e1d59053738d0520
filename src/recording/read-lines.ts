import { createReadStream } from 'node:fs';
import { PodexitError } from '../errors.ts';
import { notARecording } from './header.ts';

/** A line longer than this is not ours: nothing that is observed comes near it. */
const longestLine = 64 * 1024 * 1024;

export interface ParsedLine {
  /** Counts from 1. */
  number: number;
  value: unknown;
}

/**
 * The JSON values of an NDJSON file, one a line. Only an incomplete last line is forgiven (the recorder was killed);
 * `onCut` then says so. Any other broken line is an error that names it.
 */
export async function* readLines(file: string, onCut: (line: number) => void): AsyncGenerator<ParsedLine> {
  let number = 0;
  for await (const line of splitLines(file)) {
    number += 1;
    if (line.text.trim() === '') continue;
    const value = parse(line.text);
    if (value !== undefined) yield { number, value };
    else if (line.last && number > 1) onCut(number);
    else throw broken(file, number);
  }
  if (number === 0) throw notARecording(file);
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

/** `last`: the file ends right behind it, without a line break. */
async function* splitLines(file: string): AsyncGenerator<{ text: string; last: boolean }> {
  let rest = '';
  try {
    for await (const chunk of createReadStream(file, { encoding: 'utf8' })) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > longestLine) throw notARecording(file);
      for (const text of lines) yield { text, last: false };
    }
  } catch (cause) {
    throw cause instanceof PodexitError ? cause : unreadable(file, cause);
  }
  if (rest !== '') yield { text: rest, last: true };
}

function unreadable(file: string, cause: unknown): PodexitError {
  const { code } = cause as NodeJS.ErrnoException;
  const why =
    code === 'ENOENT'
      ? 'does not exist'
      : code === 'EISDIR'
        ? 'is a directory'
        : `cannot be read (${code ?? 'unknown error'})`;
  return new PodexitError('recording.unreadable', `the recording ${file} ${why}`, 'Check the path.', { cause });
}
