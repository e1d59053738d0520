import { closeSync } from 'node:fs';
import { PodexitError } from '../errors.ts';
import type { Observation } from '../model/observation.ts';
import type { Header } from './header.ts';
import {
  causeOf,
  emptyOutput,
  isEmpty,
  nap,
  openOutput,
  removeNew,
  writeSome,
  type OutputFile,
} from './output-file.ts';

export type Recorder = ReturnType<typeof openRecorder>;

/**
 * Writes observations to `file` as they come, from the first that shows the pod: until then nothing is there that could be
 * replayed, and what an earlier run left in the file stays. Lines are written whole and at once, so a killed process leaves
 * a readable file. `safe` makes a line harmless to look at, and leaves its meaning. Throws `record.unwritable`.
 */
export function openRecorder(file: string, header: Header, safe = (json: string): string => json) {
  const kept = (one: Observation): Observation =>
    one.kind === 'line' && !header.logText ? { ...one, text: undefined } : one;
  const asLine = (value: unknown): string => `${safe(JSON.stringify(value))}\n`;
  const output = opened(file);
  /** Lines that are held back until the pod is seen. */
  let held: unknown[] | undefined = [header];
  let failure: Error | undefined;
  const attempt = (work: () => void): void => {
    if (failure) return;
    try {
      work();
    } catch (error) {
      failure = error as Error;
    }
  };
  const begin = (lines: readonly unknown[]): void => {
    held = undefined;
    emptyOutput(output);
    writeWhole(output, lines.map(asLine).join(''));
  };
  /** The pod was never seen: what was observed is kept only where it overwrites nothing. */
  const giveUp = ([head, ...observations]: readonly unknown[]): void => {
    if (observations.length === 0) removeNew(file, output);
    else if (isEmpty(output)) begin([head, ...observations]);
  };
  return {
    write(observations: readonly Observation[]): void {
      const lines = observations.map(kept);
      if (held === undefined) return attempt(() => writeWhole(output, lines.map(asLine).join('')));
      const all = [...held, ...lines];
      held = all;
      if (observations.some(showsPod)) attempt(() => begin(all));
    },
    close(): void {
      if (held !== undefined) attempt(() => giveUp(held ?? []));
      closeSync(output.descriptor);
    },
    /** The first write that failed (a full disk); nothing is written after it. */
    get failure(): Error | undefined {
      return failure;
    },
  };
}

function showsPod(one: Observation): boolean {
  const isThere = one.kind === 'changed' || (one.kind === 'listed' && one.objects.length > 0);
  return isThere && (one.stream === 'pod' || one.stream === 'pods');
}

/** ms that the reader of a pipe may stand still: while we wait for it nothing is observed. */
const longestStandstill = 2000;

function writeWhole(output: OutputFile, text: string): void {
  const bytes = Buffer.from(text);
  let waited = 0;
  for (let written = 0; written < bytes.length;) {
    const taken = writeSome(output, bytes, written);
    written += taken;
    waited = taken > 0 ? 0 : waited + nap();
    if (waited >= longestStandstill) throw new Error(`its reader has taken nothing for ${longestStandstill / 1000} s`);
  }
}

function opened(file: string): OutputFile {
  try {
    // Recordings name pods and nodes: no reason for others on the machine to read them.
    return openOutput(file, 0o600);
  } catch (cause) {
    throw unrecordable(file, causeOf(cause), cause);
  }
}

/** PodexitError `record.unwritable`; `why` in the system's words. */
export const unrecordable = (file: string, why: string, cause?: unknown): PodexitError =>
  new PodexitError(
    'record.unwritable',
    `cannot write the recording ${file} (${why})`,
    'Choose another path for --record, or start what reads it first.',
    { cause },
  );
