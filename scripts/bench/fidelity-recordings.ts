/** Each true instant of each recording, and the interval that the report gives for it in each view. */
import { timelineOf } from '../../src/infer/conclude.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { allNames, mustReport, observationsOf, tracedPodsOf, traceOf } from '../../test/helpers/recordings.ts';
import type { Truth } from '../../src/demo/scenarios.ts';
import { heldAgainst, type Held } from '../../test/helpers/truth.ts';
import { withoutEvents, withoutLeases, withoutLogs, withoutSlices } from '../../test/helpers/views.ts';

export const viewNames = ['withLogs', 'withoutLogs', 'withoutEvents', 'withoutSlices', 'withoutLeases'] as const;

/** As recorded, or without permission for one resource. */
export type View = (typeof viewNames)[number];

export interface RecordingRow {
  recording: string;
  pod: string;
  container: string;
  instant: Held['instant'];
  /** Not the first pod of its recording. */
  isOneOfMany: boolean;
  views: Partial<Record<View, Pick<Held, 'width' | 'hit'>>>;
  outcomes: Partial<Record<View, string>>;
  /** How much evidence other evidence contradicts, with logs. Only of the first pod. */
  contradictions: number;
}

export const nameOfRow = ({ recording, pod, container, instant }: RecordingRow): string =>
  `${recording} ${pod} ${container} ${instant}`;

export async function recordingRows(): Promise<RecordingRow[]> {
  const rows: RecordingRow[] = [];
  for (const name of allNames) {
    const pods = await tracedPodsOf(name);
    rows.push(...pods.flatMap((one, index) => rowsOf(name, one, index > 0)));
  }
  return rows;
}

function rowsOf(
  recording: string,
  { pod, truths, rawObservations }: { pod: string; truths: Truth[]; rawObservations: readonly RawObservation[] },
  isOneOfMany: boolean,
): RecordingRow[] {
  const reports = viewNames.map((view) => [view, reportOf(rawObservations, view)] as const);
  const held = reports.map(([view, report]) => [view, heldAgainst(report, truths)] as const);
  const timeline = isOneOfMany ? undefined : timelineOf(traceOf(observationsOf(rawObservations)));
  return wantedOf(truths).map(({ container, instant }) => ({
    recording,
    pod,
    contradictions: timeline?.contradictions.length ?? 0,
    container,
    instant,
    isOneOfMany,
    views: Object.fromEntries(
      held.map(([view, all]) => [view, all.find((one) => one.container === container && one.instant === instant)]),
    ),
    outcomes: Object.fromEntries(
      reports.map(([view, { containers }]) => [view, containers.find(({ name }) => name === container)?.outcome]),
    ),
  }));
}

const reportOf = (rawObservations: readonly RawObservation[], view: View): ExitReport =>
  mustReport(traceOf(observationsOf(views[view](rawObservations))));

const views: Record<View, (all: readonly RawObservation[]) => readonly RawObservation[]> = {
  withLogs: (all) => all,
  withoutLogs,
  withoutEvents,
  withoutSlices,
  withoutLeases,
};

/** The instants of the truth file. One without an interval becomes an empty cell, not a missing row. */
const wantedOf = (truths: readonly Truth[]): Pick<RecordingRow, 'container' | 'instant'>[] =>
  truths.flatMap(({ container, stop_signal_sent, sigkill_sent, exited }) => [
    ...(stop_signal_sent === undefined ? [] : [{ container, instant: 'stop-signal' as const }]),
    ...(sigkill_sent === undefined ? [] : [{ container, instant: 'kill' as const }]),
    ...(exited === undefined ? [] : [{ container, instant: 'exit' as const }]),
  ]);
