import { closeSync, openSync, writeSync } from 'node:fs';
import { PodexitError } from '../errors.ts';
import type { Observation } from '../trace/observation.ts';
import type { Header } from './header.ts';

/** Writes observations as they come. Each line is written whole and at once, so a killed process leaves a readable file. */
export interface Recorder {
  write(observation: Observation): void;
  close(): void;
  /** The first write that failed (a full disk); nothing is written after it. */
  readonly failure: Error | undefined;
}

/** Opens `file` for a new recording. Throws a PodexitError where it cannot be created. */
export function openRecorder(file: string, header: Header): Recorder {
  const descriptor = open(file);
  let failure: Error | undefined;
  const line = (value: unknown): void => {
    if (failure) return;
    try {
      writeWhole(descriptor, `${JSON.stringify(value)}\n`);
    } catch (error) {
      failure = error as Error;
    }
  };
  line(header);
  return {
    write: line,
    close: () => closeSync(descriptor),
    get failure() {
      return failure;
    },
  };
}

function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
}

function open(file: string): number {
  try {
    // Recordings name pods and nodes: no reason for others on the machine to read them.
    return openSync(file, 'w', 0o600);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new PodexitError(
      'record.unwritable',
      `cannot write the recording ${file} (${code ?? 'unknown error'})`,
      'Choose another path for --record.',
      { cause },
    );
  }
}
