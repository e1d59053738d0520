/**
 * The recorded deletions of the tests. To add a case, add what a recorder beside the cluster wrote to test/scenarios, its
 * truth and the converted recording (scripts/convert-recording.ts) to test/recordings.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Truth } from '../../src/demo/scenarios.ts';
import { convertPod, readRows } from '../../scripts/convert/convert.ts';
import type { Row } from '../../scripts/convert/rows.ts';
import { subjectOf } from '../../scripts/convert/subject.ts';
import { openReplay } from '../../src/run/recorded-run.ts';
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

export const rawObservationsOf = (name: string): Promise<RawObservation[]> => rawObservationsIn(recordingFile(name));

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

interface TracedPod {
  pod: string;
  truths: Truth[];
  /** Converted when they are first read. */
  readonly rawObservations: RawObservation[];
}

const traced = new Map<string, Promise<TracedPod[]>>();

/** The pods of a recording with known true instants, each with the raw observations of its trace. Cached. */
export function tracedPodsOf(name: string): Promise<TracedPod[]> {
  const pods = traced.get(name) ?? readTracedPods(name);
  traced.set(name, pods);
  return pods;
}

async function readTracedPods(name: string): Promise<TracedPod[]> {
  const truths = truthsOf(name);
  const pods = [...new Set(truths.map(({ pod }) => pod))];
  if (pods.length < 2) return [{ pod: pods[0] ?? '', truths, rawObservations: await rawObservationsOf(name) }];
  const rows = rowsOf(name);
  const own = subjectOf(rows);
  return pods.map((pod) => {
    const subject = own?.name === pod ? own : { namespace: own?.namespace ?? '', name: pod };
    const convert = (): RawObservation[] => [...convertPod(rows, subject)];
    let converted: RawObservation[] | undefined;
    return {
      pod,
      truths: truths.filter((one) => one.pod === pod),
      get rawObservations() {
        return (converted ??= convert());
      },
    };
  });
}

export const observationsOf = (rawObservations: readonly RawObservation[]): Observation[] =>
  rawObservations.map((rawObservation, index) => observe(rawObservation, index + 1, { logText: false }));

export const traceOf = (observations: readonly Observation[]): Trace => observations.reduce(reduce, emptyTrace);

/** The report that renderers receive. */
export async function reportToRender(name: string): Promise<Report> {
  return mustRender(traceOf(observationsOf(await rawObservationsOf(name))));
}

export function mustRender(trace: Trace): Report {
  const report = reportOf(trace);
  if (!report) throw new Error('the trace has no report');
  return report;
}

/** Cached; no test may change it. */
export function reportOfRecording(name: string): Promise<ExitReport> {
  const report = reports.get(name) ?? rawObservationsOf(name).then((all) => mustReport(traceOf(observationsOf(all))));
  reports.set(name, report);
  return report;
}

const reports = new Map<string, Promise<ExitReport>>();

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
