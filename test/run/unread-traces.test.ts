/** A change may concern every trace of a run. Traces that nobody shows are read at their end, with the same reports. */
import { expect, it } from 'vitest';
import { reportOf } from '../../src/advice/report.ts';
import { createTraceReports } from '../../src/run/ending/trace-end.ts';
import { run, type RunOptions } from '../../src/run/run.ts';
import { type Traces } from '../../src/run/traces/traces.ts';
import { tracesOfLog } from '../../src/run/traces/traces.ts';
import type { Report } from '../../src/verdict/report.ts';
import { rawObservationsOf } from '../helpers/recordings.ts';

/** The reports of a recorded scale-down of 40 pods, and how often a trace was read. */
async function readsOf(options: Pick<RunOptions, 'onTrace' | 'awaits'>, step?: () => void) {
  const all = tracesOfLog();
  let reads = 0;
  const traces: Traces = { ...all, get: (key) => ((reads += 1), all.get(key)) };
  const reports: Report[] = [];
  const { ended } = createTraceReports(traces, reportOf, (report) => void reports.push(report));
  const source = await rawObservationsOf('scale-to-zero-40');
  await run({ source, logText: false, traces, audience: { ended, ...(step && { step }) }, ...options });
  return { reports, reads };
}

it('each of 40 traces is read once, for its report, which is the same as if all steps were shown', async () => {
  const unread = await readsOf({});
  const shown = await readsOf({}, () => {});
  expect(unread.reports).toHaveLength(40);
  expect(unread.reports).toEqual(shown.reports);
  expect(unread.reads).toBeLessThan(50);
  expect(shown.reads).toBeGreaterThan(20 * unread.reads);
});

it('what decides the end of a run reads only the traces that it awaits', async () => {
  const onTrace = (): void => {};
  const isOfPod = await readsOf({ onTrace, awaits: (_, o) => o.kind !== 'changed' || o.object.kind === 'Pod' });
  const always = await readsOf({ onTrace });
  expect(isOfPod.reports).toEqual(always.reports);
  expect(isOfPod.reads).toBeLessThan(always.reads / 2);
});
