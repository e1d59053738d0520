/** A half-open watch whose missing changes no answer reveals: it is reported as a gap, and no server is flooded. */
import { expect, it } from 'vitest';
import type { Fault } from '../sim/faults/fault.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import type { Traced } from './helpers/traced.ts';
import { noAnswers } from './helpers/no-answers.ts';
import { traced } from './helpers/traced.ts';

const halfOpen = (resource: string): Fault => ({ kind: 'silent', resource, verb: 'watch', afterMs: 0 });

/** The two streams that findings need, besides the pod's own. */
const needed = ['events', 'endpointslices'];

const goneAt = ({ trace }: Traced): number => trace?.gone?.at ?? NaN;
const codesOf = ({ report }: Traced): string[] => report?.verdict.findings.map(({ code }) => code) ?? [];
const openGapOf = ({ report }: Traced, resource: string) =>
  report?.gaps.find((gap) => gap.resource === resource && gap.to === undefined);

it.each(needed.flatMap((resource) => noAnswers(4).map(([how, fault]) => [resource, how, fault] as const)))(
  'a half-open watch of %s is a gap if a list to check it gets %s',
  async (resource, _, fault) => {
    const faults = [halfOpen(resource), { ...fault, resource, verb: 'list' as const, afterMs: 0 }];
    const run = await traced(loadRecording('prestop-fails'), { server: { faults } });
    const sentAt = run.observations.find(({ kind }) => kind === 'requested')?.at ?? NaN;
    const gap = openGapOf(run, resource);
    expect(gap?.cause).toBe('disconnected');
    expect(Date.parse(gap?.from ?? '')).toBeLessThanOrEqual(sentAt);
    expect(codesOf(run)).toContain('evidence-lost');
    expect(openGapOf(run, 'pods')).toBeUndefined();
    // podexit waits as long as for a broken stream, and no longer.
    const end = run.observations.at(-1);
    expect((end?.at ?? NaN) - goneAt(run)).toBeLessThan(11_000);
  },
);

/** ms between the lists of a resource, from the removal of the pod on. */
function pausesOf(run: Traced, resource: string): number[] {
  const asked = run.requests.filter(
    (one) =>
      one.resource === resource &&
      one.verb === 'list' &&
      one.at >= goneAt(run) &&
      !decodeURIComponent(one.url).includes('kind=Node'),
  );
  expect(asked.length).toBeGreaterThan(1);
  return asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? NaN));
}

it.each(needed)('podexit checks a half-open watch of %s less and less often', async (resource) => {
  const faults = [halfOpen(resource), { kind: 'status', code: 503, resource, verb: 'list', afterMs: 0 } as const];
  const pauses = pausesOf(await traced(loadRecording('prestop-fails'), { server: { faults } }), resource);
  expect(pauses.length).toBeLessThan(10);
  expect(pauses[0]).toBeGreaterThanOrEqual(125);
  // At last between 2.5 and 5 s.
  const growing = pauses.map((pause) => Math.min(pause, 2500));
  expect(growing).toEqual([...growing].sort((a, b) => a - b));
});

it.each([429, 503])('podexit checks a half-open watch no sooner than the Retry-After of a %i allows', async (code) => {
  const resource = 'events';
  const faults: Fault[] = [
    halfOpen(resource),
    { kind: 'status', code, retryAfterSeconds: 4, resource, verb: 'list', afterMs: 0 },
  ];
  const pauses = pausesOf(await traced(loadRecording('prestop-fails'), { server: { faults } }), resource);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(4000);
});

it('a server that is busy for some seconds costs only time', async () => {
  const scenario = loadRecording('prestop-fails');
  const fair = await traced(scenario);
  const faults: Fault[] = [
    halfOpen('endpointslices'),
    { kind: 'status', code: 503, resource: 'endpointslices', verb: 'list', afterMs: 0, forMs: 5000 },
  ];
  const run = await traced(scenario, { server: { faults } });
  expect(codesOf(run)).toEqual(codesOf(fair));
  expect(run.report?.gaps.map(({ cause }) => cause)).toEqual(['late']);
  expect((run.observations.at(-1)?.at ?? NaN) - goneAt(run)).toBeLessThan(10_000);
});

it('podexit does not get a pod again whose stream reports its removal, so a 403 on get leaves no gap', async () => {
  const faults: Fault[] = [{ kind: 'status', code: 403, resource: 'pods', verb: 'get' }];
  const run = await traced(loadRecording('prestop-fails'), { server: { faults } });
  expect(run.report?.gaps).toEqual([]);
  expect((run.observations.at(-1)?.at ?? NaN) - goneAt(run)).toBeLessThan(1000);
});
