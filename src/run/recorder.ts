/** The recorder of a run. */
import { recordingVersion } from '../recording/reader.ts';
import { openRecorder, type Recorder } from '../recording/recorder.ts';
import { forJson } from '../output/safe-text.ts';
import type { Ports } from './ports.ts';

/** `onFailure`: the recording breaks off. Throws `record.unwritable`. */
export function recorderFor(
  file: string,
  logText: boolean,
  { clock, version }: Pick<Ports, 'clock' | 'version'>,
  onFailure: (error: Error) => void,
): Recorder {
  const recorded = new Date(clock.now()).toISOString();
  const header = { podexit: recordingVersion, program: version, recorded, logText };
  return openRecorder(file, header, { safe: forJson, onFailure });
}
