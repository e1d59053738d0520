/** What a probe of the pod itself proves of its exit. */
import { expect, it } from 'vitest';
import type { Observation } from '../../src/model/observation.ts';
import type { ProbeCounts, ProbeStarted } from '../../src/model/probe-observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { mustReport, observationsOf, sightingsOf, traceOf, truthsOf } from '../helpers/recordings.ts';
import { heldAgainst } from '../helpers/truth.ts';

const name = 'graceful-exit';
const exitOf = ({ containers }: ExitReport) => {
  const { earliest = '', latest = '' } = containers[0]?.exit?.at ?? {};
  return { earliest: Date.parse(earliest), latest: Date.parse(latest) };
};

/** The recording's run, in which the pod answered a request that was sent at `lastSent` (client ms). */
async function probed(lastSent: number, pod?: string): Promise<ExitReport> {
  const observations = observationsOf(await sightingsOf(name));
  const { uid } = traceOf(observations);
  const started: ProbeStarted = {
    ...{ kind: 'probe-started', probe: 0, target: 'pod:8080', via: 'pod-proxy', ratePerSecond: 5, timeoutMs: 1000 },
    ...{ keepalive: false, pod: pod ?? uid },
  };
  const counts: ProbeCounts = {
    ...{
      kind: 'probe-counts',
      probe: 0,
      since: lastSent - 100,
      new: { sent: 1, failed: 0 },
      failures: [],
      latency: [],
    },
    answered: { first: lastSent, lastSent },
  };
  const at = lastSent + 50;
  const more = [started, counts].map((one) => ({ ...one, at, seq: 0 }));
  const all = [...observations, ...more].sort((one, other) => one.at - other.at);
  return mustReport(traceOf(all.map((one, index): Observation => ({ ...one, seq: index + 1 }))));
}

it('lets no container end before the last request that it answered was sent', async () => {
  const before = exitOf(mustReport(traceOf(observationsOf(await sightingsOf(name)))));
  const truth = Date.parse(truthsOf(name)[0]?.exited ?? '');
  expect(truth - before.earliest).toBeGreaterThan(100);
  const report = await probed(truth - 20);
  expect(exitOf(report).earliest).toBeGreaterThanOrEqual(truth - 20);
  expect(heldAgainst(report, truthsOf(name)).filter(({ hit }) => !hit)).toEqual([]);
});

it('concludes nothing from what another pod answered', async () => {
  const plain = exitOf(mustReport(traceOf(observationsOf(await sightingsOf(name)))));
  expect(exitOf(await probed(plain.earliest + 30, 'another-uid'))).toEqual(plain);
});
