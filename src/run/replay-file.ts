/** Replays a recording through the same loop as a live run. */
import type { Policy } from '../verdict/judge.ts';
import type { LookOptions } from './audience.ts';
import { openStage } from './audience.ts';
import { assertDistinct } from './distinct-files.ts';
import { finish } from './finish.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';
import type { Publish } from './publish.ts';
import { openReplay } from './replay.ts';
import type { ReportFile } from './report-files.ts';
import { assertWritable } from './report-files.ts';
import { run } from './run.ts';

export interface ReplayOptions {
  file: string;
  format: Format;
  look: LookOptions;
  reports: readonly ReportFile[];
  policy: Policy;
  publish: Publish;
}

/** The exit code of the run that was recorded. Throws PodexitError for what is no recording. */
export async function replayFile(options: ReplayOptions, ports: Ports): Promise<number> {
  assertDistinct({ file: options.file, what: 'the recording' }, options.reports);
  await assertWritable(options.reports);
  const { sightings, logText } = await openReplay(options.file, (message) =>
    ports.stderr.write(`podexit: ${message}\n`),
  );
  const stage = await openStage(options.format, { ...options.look, logs: options.look.logs && logText }, ports);
  try {
    const trace = await run({ source: sightings, logText, audience: stage });
    return await finish(trace, options, stage, ports, false);
  } finally {
    stage.close();
  }
}
