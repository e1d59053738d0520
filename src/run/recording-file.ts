/** The recording of one run: a write that fails is said once and costs exit code 1, never the trace. */
import type { Recorder } from '../recording/recorder.ts';
import { openRecorder } from '../recording/recorder.ts';
import { recordingVersion } from '../recording/header.ts';
import { forJson } from '../render/safe-text.ts';
import type { Ports } from './ports.ts';

/** Writes nothing where no file is asked for. Throws `record.unwritable`. */
export function recorderFor(
  file: string | undefined,
  logText: boolean,
  { clock, version }: Ports,
  warn: (message: string) => void,
): Recorder {
  if (file === undefined) return { write: () => {}, close: () => {}, failure: undefined };
  const recorded = new Date(clock.now()).toISOString();
  const recorder = openRecorder(file, { podexit: recordingVersion, program: version, recorded, logText }, forJson);
  let warned = false;
  return {
    write: (observation) => {
      recorder.write(observation);
      if (!recorder.failure || warned) return;
      warned = true;
      warn(`the recording ${file} is incomplete: ${recorder.failure.message}; the trace goes on`);
    },
    close: () => recorder.close(),
    get failure() {
      return recorder.failure;
    },
  };
}
