/** The command `replay`: shows a recorded run again, as the run did. */
import { PodexitError } from '../errors.ts';
import { openStage } from './audience.ts';
import { finish, type FinishOptions } from './finish.ts';
import { warnOn, type Ports } from './ports.ts';
import { openReplay } from './replay.ts';
import { run, type LookOptions, type RunOptions } from './run.ts';
import { assertDistinct, assertWritable } from './writable.ts';

interface ReplayOptions extends FinishOptions {
  file: string;
  /** The pod to replay, of several; absent: all. */
  pod?: string | undefined;
  look: LookOptions;
}

/** The exit code of the recorded run. Throws PodexitError if the file is not a recording. */
export async function replayFile(options: ReplayOptions, ports: Ports): Promise<number> {
  assertDistinct({ file: options.file, what: 'the recording' }, options.reports);
  await assertWritable(options.reports);
  const replay = await openReplay(options.file, warnOn(ports), options.pod);
  const { rawObservations: source, logText, traces, target } = replay;
  const shown = { ...options, look: { ...options.look, logs: options.look.logs && logText } };
  if (target !== undefined) return replaySeveral({ source, logText, traces }, target, shown, ports);
  const stage = await openStage(shown.format, shown.look, ports);
  try {
    const trace = await run({ source, logText, traces, audience: stage });
    if (options.pod !== undefined && trace.pod?.value.metadata.name !== options.pod) throw podNotInRecording(options);
    return await finish(trace, shown, stage, ports);
  } finally {
    stage.close();
  }
}

const podNotInRecording = ({ pod = '', file }: ReplayOptions): PodexitError =>
  new PodexitError(
    'recording.no-pod',
    `${file} has no pod "${pod}" that terminates`,
    `See all of them with: kubectl podexit replay ${file}`,
  );

/** Shows each report when its trace ends, then the summary, as the run did. */
async function replaySeveral(source: RunOptions, target: string, shown: ReplayOptions, ports: Ports): Promise<number> {
  const { createResults, rolloutOutput } = await import('../rollout/output.ts');
  const results = createResults(shown, target, source.traces, rolloutOutput(shown, ports), ports);
  await run({ ...source, audience: results });
  results.takeRest();
  await results.written();
  return results.end();
}
