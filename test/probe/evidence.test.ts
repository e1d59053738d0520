/** What a probe of the pod itself proves about its exit. */
import { expect, it } from 'vitest';
import type { Observation, RawObservation } from '../../src/model/observation.ts';
import type { ProbeCounts, ProbeStarted } from '../../src/model/probe-observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { mustReport, observationsOf, rawObservationsOf, traceOf, truthsOf } from '../helpers/recordings.ts';

const name = 'graceful-exit';

interface Story {
  /** Client ms: the sending of the last request that the pod answered. */
  lastSent: number;
  /** The first refused connection. */
  refused?: number;
  /** The uid of the probed pod; by default that of the deleted pod. */
  pod?: string;
  hostNetwork?: boolean;
}

/** The run of the recording, with a probe of the pod. */
async function probed({ lastSent, refused, pod, hostNetwork }: Story): Promise<ExitReport> {
  const rawObservations = await rawObservationsOf(name);
  const observations = observationsOf(hostNetwork ? onHostNetwork(rawObservations) : rawObservations);
  const { uid } = traceOf(observations);
  const started: ProbeStarted = {
    ...{ kind: 'probe-started', probe: 0, target: 'pod:8080', via: 'pod-proxy', ratePerSecond: 5, timeoutMs: 1000 },
    ...{ keepalive: false, pod: pod ?? uid },
  };
  const counts: ProbeCounts = {
    ...{ kind: 'probe-counts', probe: 0, since: lastSent - 100, new: { sent: 1, failed: 0 }, latency: [] },
    failures: refused === undefined ? [] : [{ ...refusal, first: refused, last: refused }],
    answered: { first: lastSent, lastSent },
  };
  const at = Math.max(lastSent, refused ?? 0) + 50;
  const more = [started, counts].map((one) => ({ ...one, at, seq: 0 }));
  const all = [...observations, ...more].sort((one, other) => one.at - other.at);
  return mustReport(traceOf(all.map((one, index): Observation => ({ ...one, seq: index + 1 }))));
}

const onHostNetwork = (rawObservations: readonly RawObservation[]): RawObservation[] =>
  JSON.parse(
    JSON.stringify(rawObservations).replaceAll('"nodeName":', '"hostNetwork":true,"nodeName":'),
  ) as RawObservation[];

const refusal = { kind: 'refused', connection: 'new', count: 1 } as const;

const plainReport = async (): Promise<ExitReport> => mustReport(traceOf(observationsOf(await rawObservationsOf(name))));
const exited = (): number => Date.parse(truthsOf(name)[0]?.exited ?? '');

it('dates the end of serving between the last answered and the first refused request', async () => {
  const report = await probed({ lastSent: exited() - 1000, refused: exited() - 800 });
  const { earliest = '', latest = '' } = report.containers[0]?.servedUntil ?? {};
  expect([Date.parse(earliest), Date.parse(latest)]).toEqual([
    Math.floor(exited() - 1000),
    Math.ceil(exited() - 800) + 1,
  ]);
  expect(report.traffic?.reason).toMatch(/app answered new requests until ≈?2\.\ds after SIGTERM$/);
  expect(report.verdict.findings.find(({ code }) => code === 'drain-race')?.severity).toBe('info');
});

it('raises the drain race to a warning if the port refused within a second of the removal', async () => {
  const signal = Date.parse(truthsOf(name)[0]?.stop_signal_sent ?? '');
  const report = await probed({ lastSent: signal + 50, refused: signal + 250 });
  expect(report.verdict.findings.find(({ code }) => code === 'drain-race')).toMatchObject({ severity: 'warning' });
});

it.each<[string, Omit<Story, 'lastSent'>]>([
  ['of another pod', { pod: 'another-uid' }],
  ["at the node's address", { hostNetwork: true }],
])('concludes nothing from an answer %s', async (_, story) => {
  const report = await probed({ lastSent: exited() - 1000, refused: exited() - 800, ...story });
  expect(report.containers[0]?.servedUntil).toBeUndefined();
});

it('concludes nothing from an answer after the end: another pod may have the address by then', async () => {
  const { marks } = await plainReport();
  const removed = Date.parse(marks.find((mark) => mark.name === 'removed')?.at.latest ?? '');
  const report = await probed({ lastSent: removed - 5, refused: removed });
  expect(report.containers[0]?.servedUntil).toBeUndefined();
});
