/** A recorded run: shown again as the run did, or only as its reports, for commands that explain or compare exits. */
import { PodexitError } from '../errors.ts';
import { exitCodes } from '../verdict/exit-code.ts';
import { createObstacles } from './progress/obstacles.ts';
import type { RawObservation } from '../model/observation.ts';
import type { Report } from '../verdict/report.ts';
import { reportOf } from '../advice/report.ts';
import { openStage } from '../output/stage.ts';
import { finish, type FinishOptions } from './group/finish.ts';
import { warnOn, type Ports } from './ports.ts';
import { openReplay } from './replay.ts';
import type { LookOptions } from '../output/view.ts';
import { run, type RunOptions } from './run.ts';
import { createTraceReports } from './ending/trace-end.ts';
import { tracesOfLog } from './traces/traces-of-log.ts';
import { assertDistinct, assertWritable } from '../output/writable.ts';

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
    const { pod, file } = options;
    if (pod !== undefined && trace.pod?.value.metadata.name !== pod)
      throw new PodexitError(
        'recording.no-pod',
        `${file} has no pod "${pod}" that terminates`,
        `See all of them with: kubectl podexit replay ${file}`,
      );
    return await finish(trace, shown, stage, ports);
  } finally {
    stage.close();
  }
}

/** Shows each report when its trace ends, then the summary, as the run did. */
async function replaySeveral(source: RunOptions, target: string, shown: ReplayOptions, ports: Ports): Promise<number> {
  const { createResults } = await import('./group/output.ts');
  const { severalView } = await import('../output/several.ts');
  const results = createResults(shown, { target }, source.traces, severalView(shown.format, shown.look, ports), ports);
  const obstacles = createObstacles(() => {});
  const take: typeof results.take = (news) => (news.forEach(obstacles.replayed), results.take(news));
  await run({ ...source, audience: { ...results, take } });
  results.takeRest();
  await results.written();
  const why = results.reports.length === 0 && !target.startsWith('node/') ? obstacles.text() : undefined;
  if (why === undefined) return results.end();
  const incomplete = `no pod of ${target} was seen to terminate: ${why}`;
  return results.end({ codes: [exitCodes['not-started']], incomplete });
}

/** One report for each pod that terminates, in the order in which they ended. Throws what `openReplay` throws. */
export async function reportsInRecording(file: string): Promise<Report[]> {
  const { rawObservations: source, logText, traces } = await openReplay(file, () => {});
  return reportsFrom({ source, logText, traces });
}

/** The report of a log about one pod; undefined if the log does not hold the pod. */
export async function reportOfLog(source: Iterable<RawObservation>): Promise<Report | undefined> {
  const [report] = await reportsFrom({ source, logText: false, traces: tracesOfLog() });
  return report;
}

async function reportsFrom(log: Pick<RunOptions, 'source' | 'logText' | 'traces'>): Promise<Report[]> {
  const reports: Report[] = [];
  const taken = createTraceReports(log.traces, reportOf, (report) => void reports.push(report));
  await run({ ...log, audience: { ended: taken.ended } });
  taken.takeRest();
  return reports;
}
