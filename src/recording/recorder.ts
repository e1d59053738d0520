/** Files that a run writes, its recording above all. Opening neither blocks forever nor changes the content. */
import { constants, fstatSync, ftruncateSync, openSync, statSync, unlinkSync, writeSync, closeSync } from 'node:fs';
import { PodexitError } from '../errors.ts';
import type { Observation } from '../model/observation.ts';
import type { Header } from './reader.ts';

interface OutputFile {
  descriptor: number;
  /** This run created the file. */
  isNew: boolean;
}

const { O_WRONLY, O_CREAT, O_EXCL, O_NONBLOCK = 0 } = constants;

/** ms for a pipe's reader, which is often started together with us, to open the pipe. */
const openTimeoutMs = 1000;
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
      if (codeOf(error) !== 'ENXIO' || waited >= openTimeoutMs || !statSync(file).isFIFO()) throw error;
      pause();
    }
  }
}

/** Whether writing would overwrite nothing; pipes and devices hold nothing. */
function isEmpty({ descriptor }: OutputFile): boolean {
  const found = fstatSync(descriptor);
  return !found.isFile() || found.size === 0;
}

/** Removes content from an earlier run. */
export function emptyOutput(output: OutputFile): void {
  if (!isEmpty(output)) ftruncateSync(output.descriptor);
}

/** Deletes the file if this run created it and the path still refers to it. */
function removeNew(file: string, { descriptor, isNew }: OutputFile): void {
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
function pause(): number {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  return pauseMs;
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

export type Recorder = ReturnType<typeof openRecorder>;

/**
 * Writes observations to `file` as they come, beginning when the first one shows the pod: before that there is nothing
 * to replay, and the file keeps what an earlier run wrote. Lines are written whole and at once, so a killed process
 * leaves a readable file. `safe` escapes a line without changing its meaning; `onFailure` is called if a write fails
 * (for example with a full disk), after which nothing is written. Throws `record.unwritable`.
 */
export function openRecorder(
  file: string,
  header: Header,
  { safe = (json: string): string => json, onFailure = (_: Error): void => {} } = {},
) {
  const withoutLogText = (one: Observation): Observation =>
    one.kind === 'line' && !header.logText ? { ...one, text: undefined } : one;
  const asLine = (value: unknown): string => `${safe(JSON.stringify(value))}\n`;
  const output = openForRecording(file);
  /** Lines that are held back until the pod is seen; then undefined. */
  let held: unknown[] | undefined = [header];
  let failure: Error | undefined;
  const attempt = (work: () => void): void => {
    if (failure) return;
    try {
      work();
    } catch (error) {
      onFailure((failure = error as Error));
    }
  };
  const begin = (lines: readonly unknown[]): void => {
    held = undefined;
    emptyOutput(output);
    writeWhole(output, lines.map(asLine).join(''));
  };
  /** The pod was never seen: observations are kept only if they overwrite nothing. */
  const giveUp = ([head, ...observations]: readonly unknown[]): void => {
    if (observations.length === 0) removeNew(file, output);
    else if (isEmpty(output)) begin([head, ...observations]);
  };
  return {
    write(observations: readonly Observation[]): void {
      const lines = observations.map(withoutLogText);
      if (held === undefined) return attempt(() => writeWhole(output, lines.map(asLine).join('')));
      const all = [...held, ...lines];
      held = all;
      if (observations.some(showsPod)) attempt(() => begin(all));
    },
    close(): void {
      if (held !== undefined) attempt(() => giveUp(held ?? []));
      closeSync(output.descriptor);
    },
    /** The error of the first failed write. */
    get failure(): Error | undefined {
      return failure;
    },
  };
}

function showsPod(one: Observation): boolean {
  const isThere = one.kind === 'changed' || (one.kind === 'listed' && one.objects.length > 0);
  return isThere && (one.stream === 'pod' || one.stream === 'pods');
}

/** ms that a pipe's reader may pause: nothing is observed while the recorder waits for it. */
const readerTimeoutMs = 2000;

function writeWhole(output: OutputFile, text: string): void {
  const bytes = Buffer.from(text);
  let waited = 0;
  for (let written = 0; written < bytes.length;) {
    const taken = writeSome(output, bytes, written);
    written += taken;
    waited = taken > 0 ? 0 : waited + pause();
    if (waited >= readerTimeoutMs) throw new Error(`its reader has taken nothing for ${readerTimeoutMs / 1000} s`);
  }
}

function openForRecording(file: string): OutputFile {
  try {
    // Recordings name pods and nodes: other users of the machine must not read them.
    return openOutput(file, 0o600);
  } catch (cause) {
    throw unrecordable(file, causeOf(cause), cause);
  }
}

/** PodexitError `record.unwritable`; `why`: the system's error. */
export const unrecordable = (file: string, why: string, cause?: unknown): PodexitError =>
  new PodexitError(
    'record.unwritable',
    `cannot write the recording ${file} (${why})`,
    'Choose another path for --record, or start what reads it first.',
    { cause },
  );
