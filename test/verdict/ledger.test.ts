/** The time ledger: each second of a deletion has one owner, or is called unexplained. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { reportOf } from '../../src/advice/report.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import { storyReport } from '../helpers/cases.ts';
import { allNames, observationsOf, rawObservationsIn, traceOf, tracedPodsOf } from '../helpers/recordings.ts';

const total = (ledger: ExitReport['ledger'] = []): number => ledger.reduce((sum, { seconds }) => sum + seconds, 0);

const unexplainedIn = ({ ledger = [] }: ExitReport): number =>
  total(ledger.filter(({ owner }) => owner === 'unexplained'));

/** What went wrong in clusters, each a recording of one pod but for the rollout. */
const troubles = fileURLToPath(new URL('recordings/', import.meta.url));

/** The reports of all recorded pods. Once: they take a third of the time of this file. */
const recorded = allRecorded();

async function allRecorded() {
  const pods = await Promise.all(
    allNames.map(async (name) => (await tracedPodsOf(name)).map(({ pod, report }) => ({ name, pod, report }))),
  );
  const files = readdirSync(troubles).filter((file) => file !== 'rollout-without-its-events.ndjson');
  const troubled = files.map(async (name) => {
    const report = reportOf(traceOf(observationsOf(await rawObservationsIn(`${troubles}${name}`))));
    return report ? [{ name, pod: name, report }] : [];
  });
  return [...pods, ...(await Promise.all(troubled))].flat().map(({ name, pod, report }) => ({
    name,
    pod,
    shown: report.timeline.total?.shown,
    report: exitReportOf(report),
  }));
}

it('of every recorded pod adds up to the time from the request to its removal', async () => {
  for (const { name, pod, shown, report } of await recorded) {
    if (shown === undefined) expect(report.ledger, `${name} ${pod}`).toBeUndefined();
    else expect(Math.abs(total(report.ledger) - shown / 1000), `${name} ${pod}`).toBeLessThan(0.005);
  }
});

it('of 95 % of the recorded pods has at most 2 s without an owner', async ({ annotate }) => {
  const seconds = (await recorded).map(({ report }) => unexplainedIn(report));
  const over = seconds.filter((one) => one > 2).length;
  await annotate(`${over} of ${seconds.length} pods have more than 2 s unexplained`);
  expect(over / seconds.length).toBeLessThanOrEqual(0.05);
});

it('does not exist as long as the pod does', () =>
  expect(
    storyReport({ pod: { name: 'held', graceSeconds: 5, state: 'running', finalizers: ['example.com/held'] } }).ledger,
  ).toBeUndefined());
