/** Replays a recording through the same loop as a live run. */
import { PodexitError } from '../errors.ts';
import { emptyTrace } from '../model/trace.ts';
import type { Sighting } from '../model/observation.ts';
import type { Traces } from './traces.ts';
import type { Policy } from '../verdict/policy.ts';
import { summaryOf } from '../verdict/rollout.ts';
import { run, type LookOptions, type RunOptions } from './run.ts';
import { openStage } from './audience.ts';
import { assertDistinct, assertWritable, type ReportFile } from './writable.ts';
import { finish } from './finish.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';
import type { Publish } from './publish.ts';
import { openReplay, type Replay } from './replay.ts';

export interface ReplayOptions {
  file: string;
  /** The one of several pods that is meant; absent: all. */
  pod?: string | undefined;
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
  const { sightings, logText, traces } = await openReplay(
    options.file,
    (message) => ports.stderr.write(`podexit: ${message}\n`),
    options.pod,
  );
  const shown = { ...options, look: { ...options.look, logs: options.look.logs && logText } };
  const { first, source } = await peeked(sightings);
  const isOfSeveral = first?.kind === 'began' && first.target !== undefined && !first.next && options.pod === undefined;
  if (isOfSeveral) return replaySeveral({ source, logText, traces, target: first.target ?? '' }, shown, ports);
  const stage = await openStage(shown.format, shown.look, ports);
  try {
    await run({ source, logText, traces, audience: stage });
    const [key] = traces.keys();
    const trace = (key === undefined ? undefined : traces.get(key)) ?? emptyTrace;
    if (options.pod !== undefined && trace.pod?.value.metadata.name !== options.pod) throw notInIt(options);
    return await finish(trace, shown, stage, ports, false);
  } finally {
    stage.close();
  }
}

const notInIt = ({ pod = '', file }: ReplayOptions): PodexitError =>
  new PodexitError(
    'recording.no-pod',
    `${file} has no pod "${pod}" that terminates`,
    `See all of them with: kubectl podexit replay ${file}`,
  );

/** A source, and the first that it brings. */
async function peeked(
  sightings: Replay['sightings'],
): Promise<{ first: Sighting | undefined; source: AsyncIterable<Sighting> }> {
  const all = asAsync(sightings);
  const { value: first, done } = await all.next();
  return {
    first: done ? undefined : first,
    source: (async function* () {
      if (done) return;
      yield first;
      yield* all;
    })(),
  };
}

async function* asAsync(sightings: Replay['sightings']): AsyncGenerator<Sighting, undefined> {
  yield* sightings;
}

/** Every report as its trace ends, and the summary, as the run had them. */
async function replaySeveral(
  { target, ...options }: Pick<RunOptions, 'source' | 'logText'> & { traces: Traces; target: string },
  shown: ReplayOptions,
  ports: Ports,
): Promise<number> {
  const [{ createResults }, { rolloutOutput }, { lossCodes, probeReportsOf }] = await Promise.all([
    import('./rollout-output.ts'),
    import('./rollout-output.ts'),
    import('./probe-results.ts'),
  ]);
  const output = rolloutOutput(shown, ports);
  const results = createResults(shown, output, ports);
  await run({ ...options, audience: results.audience(options.traces, target) });
  for (const key of options.traces.keys()) results.take(options.traces, key);
  await results.written();
  const summary = summaryOf(
    target,
    results.reports,
    [...results.codes, ...lossCodes(options.traces, shown.policy)],
    [],
    probeReportsOf(options.traces, results.reports),
  );
  await output.end(results.reports, summary);
  return summary.exitCode;
}
