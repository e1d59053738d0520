import { describe, expect, it } from 'vitest';
import type { Gate } from '../../src/model/report.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { GateSpec } from '../../src/verdict/policy.ts';
import { reportOf } from '../../src/advice/report.ts';
import { attached, listed, markedIn, slicesRefused, storyObservations } from '../helpers/cases.ts';
import {
  observationsOf,
  recordingNames,
  reportOfRecording,
  rawObservationsOf,
  traceOf,
} from '../helpers/recordings.ts';

async function judged(name: string, specs: GateSpec[], keep: (rawObservation: RawObservation) => boolean = () => true) {
  const trace = traceOf(observationsOf((await rawObservationsOf(name)).filter(keep)));
  const verdict = reportOf(trace, { gates: specs, warnOnly: false })?.verdict;
  if (!verdict) throw new Error('nothing was judged');
  return verdict;
}

async function gateOf(name: string, spec: GateSpec, keep?: (rawObservation: RawObservation) => boolean): Promise<Gate> {
  const [gate] = (await judged(name, [spec], keep)).gates;
  if (!gate) throw new Error('no gate was judged');
  return gate;
}

const isUnrelatedToServices = (rawObservation: RawObservation): boolean =>
  !('stream' in rawObservation && ['services', 'endpointslices'].includes(rawObservation.stream));

const isServices = (rawObservation: RawObservation): boolean =>
  'stream' in rawObservation && rawObservation.stream === 'services';

describe('max-duration', () => {
  it('passes an exit that was certainly shorter', async () => {
    const gate = await gateOf('prestop-exceeds-grace', { kind: 'max-duration', ms: 10_000 });
    expect(gate).toMatchObject({ name: 'max-duration', limit: '10s', passed: true, message: 'took 7.2s' });
  });

  it('fails an exit that was longer', async () => {
    const gate = await gateOf('prestop-exceeds-grace', { kind: 'max-duration', ms: 5000 });
    expect(gate).toMatchObject({ passed: false, message: 'took 7.2s' });
  });

  it('fails an exit whose end was not observed: the limit is not proven', async () => {
    const early = (rawObservation: RawObservation) =>
      !('change' in rawObservation && rawObservation.change === 'DELETED');
    const gate = await gateOf('exit-143', { kind: 'max-duration', ms: 3_600_000 }, early);
    expect(gate.passed).toBe(false);
    expect(gate.message).toMatch(/^not finished after \d+\.\ds, not proven to be within the limit/);
  });
});

describe('max-grace-used', () => {
  it('counts the whole grace period for a container that was killed', async () => {
    const gate = await gateOf('sigkill-after-grace', { kind: 'max-grace-used', share: 0.8 });
    expect(gate.passed).toBe(false);
    expect(gate.message).toBe('app used 100% of its 6s grace period');
  });

  it('names the container that used the most', async () => {
    const gate = await gateOf('multi-container', { kind: 'max-grace-used', share: 0.5 });
    expect(gate.message).toMatch(/^legacy used /);
  });

  it('passes a pod without running containers', async () => {
    expect(await gateOf('pending', { kind: 'max-grace-used', share: 0 })).toMatchObject({ passed: true });
  });

  it('fails if the interval extends beyond the limit: the limit is not proven', async () => {
    const { phases, grace } = await reportOfRecording('owner-deleted');
    const drain = phases.find(({ name }) => name === 'drain');
    if (!drain) throw new Error('no drain');
    const share = (drain.seconds.min + drain.seconds.max) / 2 / grace.effectiveSeconds;
    const gate = await gateOf('owner-deleted', { kind: 'max-grace-used', share });
    expect(gate.passed).toBe(false);
  });
});

describe('min-drain-lead', () => {
  it('is the time from removal to SIGTERM, which a preStop sleep provides', async () => {
    const gate = await gateOf('prestop-sleep', { kind: 'min-drain-lead', ms: 1000 });
    expect(gate).toMatchObject({ name: 'min-drain-lead', passed: true });
    expect(gate.message).toMatch(/^SIGTERM of app came ≈\d\.\ds after removal from Service \S+$/);
  });

  it('fails if SIGTERM arrives together with the removal', async () => {
    const gate = await gateOf('graceful-exit', { kind: 'min-drain-lead', ms: 5000 });
    expect(gate.passed).toBe(false);
    expect(gate.message).toMatch(/^SIGTERM of app came within 0\.\d+s of removal from Service checkout$/);
  });

  it('passes a pod without a Service', async () => {
    const gate = await gateOf('exit-143', { kind: 'min-drain-lead', ms: 5000 }, isUnrelatedToServices);
    expect(gate).toMatchObject({ passed: true, message: 'no Service routes to this pod by its readiness' });
  });

  it('fails a pod that left its Services before podexit attached', () => {
    const rawObservations = attached(
      storyObservations({ trigger: { kind: 'unknown', atMs: 1240, graceSeconds: null } }),
    );
    const { at, object } = markedIn(rawObservations);
    const late = [
      listed(at + 500, 'pod', object),
      ...rawObservations.filter((one) => one.at > at + 500 || one.kind === 'began' || isServices(one)),
    ].sort((a, b) => a.at - b.at);
    const began = late.filter((one) => one.kind === 'began');
    const trace = traceOf(observationsOf([...began, ...late.filter((one) => one.kind !== 'began')]));
    const gates = reportOf(trace, { gates: [{ kind: 'min-drain-lead', ms: 1 }], warnOnly: false })?.verdict.gates;
    expect(gates).toMatchObject([{ passed: false }]);
    expect(gates?.[0]?.message).toContain('attached too late: the pod was already terminating');
  });

  it('fails if EndpointSlices could not be watched', async () => {
    const trace = traceOf(
      observationsOf([
        ...(await rawObservationsOf('exit-143')).filter(isUnrelatedToServices),
        slicesRefused(Date.now()),
      ]),
    );
    const gates = reportOf(trace, { gates: [{ kind: 'min-drain-lead', ms: 1 }], warnOnly: false })?.verdict.gates;
    expect(gates).toMatchObject([{ passed: false, message: 'endpoints could not be watched' }]);
  });
});

describe('fail-on', () => {
  it('fails with the message of the finding if there is one', async () => {
    const verdict = await judged('graceful-exit', [{ kind: 'fail-on', wanted: 'drain-race' }]);
    expect(verdict.exitCode).toBe(5);
    expect(verdict.gates).toMatchObject([{ name: 'fail-on drain-race', passed: false }]);
    expect(verdict.gates[0]?.message).toBe(verdict.findings.find(({ code }) => code === 'drain-race')?.message);
  });

  it('passes without the finding', async () => {
    expect(await judged('graceful-exit', [{ kind: 'fail-on', wanted: 'oom-on-exit' }])).toMatchObject({
      exitCode: 0,
      gates: [{ name: 'fail-on oom-on-exit', passed: true, message: 'no finding oom-on-exit' }],
    });
  });

  it.each([
    ['any', false],
    ['warning', false],
    ['error', true],
  ] as const)('takes the least severity: %s, of an exit with a warning', async (wanted, passed) => {
    const { findings, gates } = await judged('prestop-fails', [{ kind: 'fail-on', wanted }]);
    expect(findings.some(({ severity }) => severity === 'warning')).toBe(true);
    expect(gates).toMatchObject([{ name: `fail-on ${wanted}`, passed }]);
  });
});

describe('all recordings', () => {
  const absurd: GateSpec[] = [
    { kind: 'max-duration', ms: 0 },
    { kind: 'max-grace-used', share: 0 },
    { kind: 'min-drain-lead', ms: 3_600_000 },
  ];
  const generous: GateSpec[] = [
    { kind: 'max-duration', ms: 86_400_000 },
    { kind: 'max-grace-used', share: 1000 },
  ];

  it.each(recordingNames)(
    '%s passes generous limits, fails a duration of 0, and prints no missing value',
    async (name) => {
      const { gates } = await judged(name, [...absurd, ...generous]);
      expect(gates.map(({ passed }) => passed)).toEqual([
        false,
        expect.any(Boolean),
        expect.any(Boolean),
        true,
        name !== 'force-delete',
      ]);
      for (const { message } of gates) expect(message).not.toMatch(/NaN|Infinity|undefined|null/);
    },
  );
});
