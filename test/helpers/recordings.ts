/**
 * The recorded deletions of the tests. To add a case, add what a recorder beside the cluster wrote to test/scenarios, its
 * truth and the converted recording (scripts/convert-recording.ts) to test/recordings.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Truth } from '../../src/demo/scenarios.ts';
import { readRows } from '../../scripts/convert/convert.ts';
import { livedThrough, type Lived } from '../../scripts/convert/end-like-live.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import type { Row } from '../../scripts/convert/rows.ts';
import { subjectOf } from '../../scripts/convert/subject.ts';
import { openReplay } from '../../src/run/recorded-run.ts';
import { timelineOf } from '../../src/infer/conclude.ts';
import type { Timeline } from '../../src/infer/timeline.ts';
import { observe } from '../../src/model/observe.ts';
import type { Observation, RawObservation } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { emptyTrace, type Trace } from '../../src/model/trace.ts';
import type { Report } from '../../src/verdict/report.ts';
import { reportOf } from '../../src/advice/report.ts';
import type { Policy } from '../../src/verdict/policy.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';

const recordingsFolder = fileURLToPath(new URL('../recordings/', import.meta.url));

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.ndjson'))
    .map((file) => file.replace('.ndjson', ''))
    .sort();

/** One pod each. */
export const recordingNames: string[] = namesIn(recordingsFolder);

/** Rollouts of several pods, and failures of the cluster. */
export const secondSeriesNames: string[] = namesIn(`${recordingsFolder}second/`);

export const allNames: readonly string[] = [...recordingNames, ...secondSeriesNames];

const folderOf = (name: string): string =>
  secondSeriesNames.includes(name) ? `${recordingsFolder}second/` : recordingsFolder;

export const recordingFile = (name: string): string => `${folderOf(name)}${name}.ndjson`;

/** The whole namespace as recorded, which the embedded server plays. */
export const scenarioFile = (name: string): string => recordingFile(name).replace('/recordings/', '/scenarios/');

/** The true instants from the container runtime's log, on the node's clock. */
export const truthsOf = (name: string): Truth[] =>
  JSON.parse(readFileSync(`${folderOf(name)}${name}.truth.json`, 'utf8')) as Truth[];

/** The raw observations of the file. No test may change them. */
export const rawObservationsOf = async (name: string): Promise<readonly RawObservation[]> =>
  (await tracedPodOf(name)).rawObservations;

export async function rawObservationsIn(file: string): Promise<RawObservation[]> {
  const { source: rawObservations } = await openReplay(file, (message) => {
    throw new Error(message);
  });
  const all: RawObservation[] = [];
  for await (const rawObservation of rawObservations) all.push(rawObservation);
  return all;
}

/** The rows of its scenario. */
export const rowsOf = (name: string): Row[] => readRows(scenarioFile(name));

/** What a run sees, and what follows from it. Each part is made when it is first read. No test may change it. */
export class Played {
  #lived: readonly Lived[] | undefined;
  #steps: readonly Step[] | undefined;
  #trace: Trace | undefined;
  #report: Report | undefined;
  readonly #read: () => readonly Lived[];

  constructor(read: () => readonly Lived[]) {
    this.#read = read;
  }
  get rawObservations(): readonly RawObservation[] {
    return (this.#lived ??= this.#read()).map(({ raw }) => raw);
  }
  get observations(): readonly Observation[] {
    return (this.#lived ??= this.#read()).map(({ observation }) => observation);
  }
  get steps(): readonly Step[] {
    return (this.#steps ??= stepsOf(this.observations));
  }
  get trace(): Trace {
    return (this.#trace ??= traceOf(this.observations));
  }
  /** What renderers receive. */
  get report(): Report {
    return (this.#report ??= mustRender(this.trace));
  }
}

/** What is known after an observation. */
interface Step {
  readonly observation: Observation;
  readonly trace: Trace;
  readonly timeline: Timeline | undefined;
}

function stepsOf(observations: readonly Observation[]): Step[] {
  let trace = emptyTrace;
  return observations.map((observation) => {
    trace = reduce(trace, observation);
    return { observation, trace, timeline: timelineOf(trace) };
  });
}

const livedAsRecorded = (rawObservations: readonly RawObservation[]): Lived[] =>
  rawObservations.map((raw, index) => ({ raw, observation: observe(raw, index + 1, { logText: false }) }));

export const playedFrom = (rawObservations: readonly RawObservation[]): Played =>
  new Played(() => livedAsRecorded(rawObservations));

/** A pod with known true instants. */
class TracedPod extends Played {
  readonly pod: string;
  readonly truths: Truth[];

  constructor(pod: string, truths: readonly Truth[], read: () => readonly Lived[]) {
    super(read);
    this.pod = pod;
    this.truths = truths.filter((one) => one.pod === pod);
  }
}

/** For each name once. */
function forEachName<T>(make: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const all = new Map<string, Promise<T>>();
  return (name) => {
    const one = all.get(name) ?? make(name);
    all.set(name, one);
    return one;
  };
}

/** The pod of the converted recording. */
export const tracedPodOf = forEachName(async (name) => {
  const [truths, all] = [truthsOf(name), await rawObservationsIn(recordingFile(name))];
  return new TracedPod(truths[0]?.pod ?? '', truths, () => livedAsRecorded(all));
});

/** The pods of a recording with known true instants. */
export const tracedPodsOf = forEachName(async (name) => {
  const truths = truthsOf(name);
  const pods = [...new Set(truths.map(({ pod }) => pod))];
  if (pods.length < 2) return [await tracedPodOf(name)];
  const rows = rowsOf(name);
  const own = subjectOf(rows);
  return pods.map((pod) => {
    const subject = own?.name === pod ? own : { namespace: own?.namespace ?? '', name: pod };
    return new TracedPod(pod, truths, () => [...livedThrough(narrowToPod(rows, subject))]);
  });
});

export const observationsOf = (rawObservations: readonly RawObservation[]): Observation[] =>
  rawObservations.map((rawObservation, index) => observe(rawObservation, index + 1, { logText: false }));

export const traceOf = (observations: readonly Observation[]): Trace => observations.reduce(reduce, emptyTrace);

/** The report that renderers receive. */
export const reportToRender = async (name: string): Promise<Report> => (await tracedPodOf(name)).report;

export function mustRender(trace: Trace): Report {
  const report = reportOf(trace);
  if (!report) throw new Error('the trace has no report');
  return report;
}

export const reportOfRecording = forEachName(async (name) => exitReportOf(await reportToRender(name)));

/** The report as in `-o json`. Undefined before the first observation of the pod. */
export function exitReportFrom(trace: Trace, policy?: Policy): ExitReport | undefined {
  const report = reportOf(trace, policy);
  return report && exitReportOf(report);
}

export function mustReport(trace: Trace): ExitReport {
  const report = exitReportFrom(trace);
  if (!report) throw new Error('the trace has no report');
  return report;
}
