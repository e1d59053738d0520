/** Recorded runs: shown again as the run did, in a list, or only as reports, for commands that explain or compare exits. */
import { PodexitError } from '../errors.ts';
import { exitCodes } from '../verdict/policy.ts';
import { createObstacles } from './progress/obstacles.ts';
import type { RawObservation } from '../model/observation.ts';
import type { Report } from '../verdict/report.ts';
import { reportOf } from '../advice/report.ts';
import { type LookOptions } from '../output/view.ts';
import { openStage } from '../output/stage.ts';
import { finish, type FinishOptions } from './group/finish.ts';
import { warnOn, type Ports } from './ports.ts';
import { run, type RunOptions } from './run.ts';
import { createTraceReports } from './ending/trace-end.ts';
import { tracesOfLog } from './traces/traces.ts';
import { assertDistinct, assertWritable } from '../output/report-files.ts';
import { rawObservationOf, readHeader, readLines, type ParsedLine } from '../recording/reader.ts';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { penOn } from '../output/palette.ts';
import { forTerminal } from '../output/safe-text.ts';
import { tableLines } from '../output/text/table.ts';
import { exitSentence, rolloutSentence } from '../output/documents.ts';
import { rolloutNumbers } from '../verdict/rollout.ts';

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
  const { file, pod } = options;
  const { target, ...recorded } = await openReplay(file, warnOn(ports), pod);
  const shown = { ...options, look: { ...options.look, logs: options.look.logs && recorded.logText } };
  if (target !== undefined) return replaySeveral(recorded, target, shown, ports);
  const stage = await openStage(shown.format, shown.look, ports);
  try {
    const trace = await run({ ...recorded, audience: stage });
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
  const { createResults } = await import('./group/finish.ts');
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

/** One report for each pod that terminates, in the order in which they ended, and what the probes of several pods measured. Throws what `openReplay` throws. */
export async function readRecording(file: string) {
  return reportsFrom(await openReplay(file, () => {}));
}

/** The report of a log about one pod; undefined if the log does not hold the pod. */
export async function reportOfLog(source: Iterable<RawObservation>): Promise<Report | undefined> {
  return (await reportsFrom({ source, logText: false, traces: tracesOfLog() })).reports[0];
}

async function reportsFrom({ source, logText, traces }: RunOptions) {
  const reports: Report[] = [];
  const taken = createTraceReports(traces, reportOf, (report) => void reports.push(report));
  await run({ source, logText, traces, audience: { ended: taken.ended } });
  taken.takeRest();
  const { probeReportsOf } = await import('./group/finish.ts');
  return { reports, probes: reports.length > 1 ? probeReportsOf(traces.probes(), reports) : undefined };
}

/**
 * A recording as a source of observations. `pod`: only this one. `warn` reports a cut-off line. Returns also whether it has
 * log text, and the target of several pods: `deployment/checkout`. Throws PodexitError if the file is no recording.
 */
export async function openReplay(file: string, warn: (message: string) => void, pod?: string) {
  const lines = readLines(file, (line) =>
    warn(`${file} was cut in line ${line}: the report covers what was recorded until then`),
  );
  const first = await lines.next();
  if (first.done)
    throw new PodexitError(
      'recording.invalid',
      `${file} is empty`,
      'Record one with: kubectl podexit POD --record FILE',
    );
  const header = readHeader(first.value.value, file);
  const traces = tracesOfLog(pod === undefined ? undefined : ({ metadata }) => metadata.name === pod);
  const rest = observationsOf(lines, file);
  const { value: head } = (await rest.next()) as { value: RawObservation | undefined };
  async function* all(): AsyncGenerator<RawObservation> {
    if (head) yield head;
    yield* rest;
  }
  const target = pod === undefined && head?.kind === 'began' && !head.next ? head.target : undefined;
  return { source: all(), logText: header.logText, traces, target };
}

/** Throws `recording.broken` at a line that is no observation, or that is 10 s earlier than those before it. */
async function* observationsOf(lines: AsyncGenerator<ParsedLine>, file: string): AsyncGenerator<RawObservation> {
  let latest = -Infinity;
  for await (const line of lines) {
    const rawObservation = rawObservationOf(line, file);
    if (rawObservation.at < latest - 10_000)
      throw new PodexitError(
        'recording.broken',
        `line ${line.number} of ${file} is earlier than the lines before it`,
        'Lines were moved or edited, or several recordings were joined: replay each recording as it was written.',
      );
    latest = Math.max(latest, rawObservation.at);
    yield rawObservation;
  }
}

/** The recordings of a folder, each with its answer in one line. Returns 0, or 1 if one of them cannot be read. Throws `recording.none`. */
export async function listRecordings(folder: string, ports: Ports): Promise<number> {
  const names = (await readdir(folder)).filter((name) => /\.ndjson(\.gz|\.zst)?$/i.test(name)).sort();
  if (names.length === 0)
    throw new PodexitError(
      'recording.none',
      `${folder} has no recording`,
      'A recording is a file that ends in .ndjson. Make one with: kubectl podexit POD --record FILE.ndjson',
    );
  let code = 0;
  const rows: string[][] = [];
  for (const name of names) {
    const answer = await readRecording(join(folder, name))
      .then(({ reports: [first, ...more] }) => {
        if (!first) return '? no pod in it terminates';
        if (more.length === 0) return exitSentence(first);
        return rolloutSentence(rolloutNumbers(`${more.length + 1} pods`, [first, ...more]));
      })
      .catch((error: unknown) => {
        if (!(error instanceof PodexitError)) throw error;
        code = 1;
        return `? ${error.message}`;
      });
    rows.push([forTerminal(name), forTerminal(answer, 1000)]);
  }
  const { stdout } = ports;
  const pen = penOn({ color: 'auto', ascii: false }, ports);
  const lines = tableLines(pen, [['RECORDING', 'RESULT'], ...rows], stdout.columns());
  stdout.write(`${lines.join('\n')}\n`);
  return code;
}
