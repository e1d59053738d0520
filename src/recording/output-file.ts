/** Files that a run writes. Opening neither blocks forever nor changes the content. */
import { constants, fstatSync, ftruncateSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs';

export interface OutputFile {
  descriptor: number;
  /** This run created the file. */
  isNew: boolean;
}

const { O_WRONLY, O_CREAT, O_EXCL, O_NONBLOCK = 0 } = constants;

/** ms for a pipe's reader, which is often started together with us, to open the pipe. */
const readerTimeoutMs = 1000;
const pauseMs = 20;

/** Throws the system's error: ENXIO for a pipe without a reader. */
export function openOutput(file: string, mode: number): OutputFile {
  try {
    return { descriptor: openSync(file, O_WRONLY | O_CREAT | O_EXCL, mode), isNew: true };
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  for (let waited = 0; ; waited += pauseMs) {
    try {
      // Without O_NONBLOCK a pipe without a reader would block the whole process, its signal handlers too.
      return { descriptor: openSync(file, O_WRONLY | O_CREAT | O_NONBLOCK, mode), isNew: false };
    } catch (error) {
      if (codeOf(error) !== 'ENXIO' || waited >= readerTimeoutMs || !statSync(file).isFIFO()) throw error;
      pause();
    }
  }
}

/** Whether writing would overwrite nothing; pipes and devices hold nothing. */
export function isEmpty({ descriptor }: OutputFile): boolean {
  const found = fstatSync(descriptor);
  return !found.isFile() || found.size === 0;
}

/** Removes content from an earlier run. */
export function emptyOutput(output: OutputFile): void {
  if (!isEmpty(output)) ftruncateSync(output.descriptor);
}

/** Deletes the file if this run created it and the path still refers to it. */
export function removeNew(file: string, { descriptor, isNew }: OutputFile): void {
  if (!isNew) return;
  const [own, found] = [
    fstatSync(descriptor, { bigint: true }),
    statSync(file, { bigint: true, throwIfNoEntry: false }),
  ];
  if (own.dev === found?.dev && own.ino === found.ino) unlinkSync(file);
}

/** Returns how many bytes from `from` on were written: 0 if a pipe is full. Throws the system's error. */
export function writeSome({ descriptor }: OutputFile, bytes: Buffer, from: number): number {
  try {
    return writeSync(descriptor, bytes, from);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return 0;
    throw error;
  }
}

/** The system's error code, or words for a code that people do not know. */
export function causeOf(error: unknown): string {
  const code = codeOf(error);
  return code === 'ENXIO' ? 'ENXIO: no process reads it' : (code ?? (error as Error).message);
}

/** Blocks this thread for a moment, so that other processes can run. Returns the ms. */
export function pause(): number {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  return pauseMs;
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
