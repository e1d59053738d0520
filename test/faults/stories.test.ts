/** Runs under faults, as stories.yaml tells them; and how often podexit asks a server that does not answer. */
import { expect, it } from 'vitest';
import type { LiveOptions } from '../../src/run/streams/live-run.ts';
import type { Fault } from '../sim/faults/fault.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { heldAgainst } from '../helpers/truth.ts';
import type { Traced } from './helpers/traced.ts';
import { traced } from './helpers/traced.ts';

interface Story {
  of: string;
  attachDelayMs?: number;
  faults?: Fault[];
  live?: Partial<LiveOptions>;
  outcome?: string;
  /** Codes that the report has and, among others, does not have. */
  findings?: string[];
  noFindings?: string[];
  /** All of them, as resource and cause; one that does not end lasts to the end of the run. */
  gaps?: string[];
  /** One of them lasts, and begins no later than what last arrived. */
  openGap?: string;
  /** Parts of them. */
  endpoints?: object[];
  /** Patterns of all warnings. */
  warnings?: string[];
  /** s from the removal to the end of the run. */
  endsWithin?: number;
}

const stories = casesIn<Story>(new URL('stories.yaml', import.meta.url), [
  ...(['of', 'attachDelayMs', 'faults', 'live', 'outcome', 'findings', 'noFindings', 'gaps', 'openGap'] as const),
  ...(['endpoints', 'warnings', 'endsWithin'] as const),
]);

it.each(stories)('%s', async (_, { of, attachDelayMs = 0, faults = [], live = {}, ...wanted }) => {
  const run = await traced(loadRecording(of), { server: { attachDelayMs, faults }, live });
  const { report, truths, warnings } = run;
  if (!report) throw run.error ?? new Error('there is no report');
  expect(heldAgainst(report, truths).filter(({ hit }) => !hit)).toEqual([]);
  if (wanted.outcome) expect(report.verdict.outcome).toBe(wanted.outcome);
  const codes = report.verdict.findings.map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(wanted.findings ?? []));
  expect(codes.filter((code) => wanted.noFindings?.includes(code))).toEqual([]);
  const gaps = report.gaps.map(({ resource, cause, to }) => `${resource} ${cause}${to === undefined ? '' : ' ends'}`);
  if (wanted.gaps) expect(gaps.sort()).toEqual([...wanted.gaps].sort());
  if (wanted.openGap !== undefined) expectOpenGap(run, wanted.openGap);
  if (wanted.endpoints) expect(report.endpoints).toMatchObject(wanted.endpoints);
  if (wanted.warnings)
    expect(warnings).toEqual(wanted.warnings.map((words) => expect.stringMatching(pattern(words)) as string));
  const tookMs = (run.observations.at(-1)?.at ?? NaN) - (run.trace?.gone?.at ?? NaN);
  if (wanted.endsWithin !== undefined) expect(tookMs).toBeLessThan(wanted.endsWithin * 1000);
});

function expectOpenGap({ report, observations }: Traced, resource: string): void {
  const [gap, ...others] = (report?.gaps ?? []).filter(({ to }) => to === undefined);
  expect(gap).toMatchObject({ resource, cause: 'disconnected' });
  expect(others.filter((other) => other.resource === 'pods')).toEqual([]);
  const stream = resource === 'pods' ? 'pod' : resource;
  const received = observations.filter((one) => one.kind === 'changed' && one.stream === stream);
  const sentAt = observations.find(({ kind }) => kind === 'requested')?.at ?? NaN;
  expect(Date.parse(gap?.from ?? '')).toBeLessThanOrEqual(received.at(-1)?.at ?? sentAt);
  expect(Date.parse(gap?.from ?? '')).toBeGreaterThan(sentAt - 1000);
}

const refused: Fault[] = [
  { kind: 'drop', resource: 'pods', verb: 'watch', afterMs: 150 },
  { kind: 'status', code: 503, resource: 'pods', verb: 'watch', afterMs: 150 },
];

it.each<[string, string, Fault[]]>([
  ['carries nothing more', 'graceful-exit', [{ kind: 'silent', resource: 'pods', verb: 'watch', afterMs: 150 }]],
  ['breaks and is refused from then on', 'graceful-exit', refused],
  ['breaks, and another pod then has its name', 'statefulset', refused],
])('a removed pod whose stream %s is not reported as stuck by a run that times out', async (_, recording, faults) => {
  // The pod is removed after some seconds.
  const gaveUp = (faults: Fault[]) =>
    traced(loadRecording(recording), { server: { faults }, live: { timeoutMs: 12_000 } });
  const removedAt = ({ report }: Traced) => report?.marks.find(({ id }) => id === 'removed')?.at;
  const struck = await gaveUp(faults);
  expect(struck.report?.verdict.outcome).not.toBe('stuck');
  expect(struck.report && heldAgainst(struck.report, struck.truths).filter(({ hit }) => !hit)).toEqual([]);
  const truth = removedAt(await gaveUp([]));
  expect(Date.parse(removedAt(struck)?.earliest ?? '')).toBeLessThanOrEqual(Date.parse(truth?.earliest ?? ''));
  expect(Date.parse(removedAt(struck)?.latest ?? '')).toBeGreaterThanOrEqual(Date.parse(truth?.latest ?? ''));
});

/** ms between the lists of a half-open resource, from the removal of the pod on, if they are refused so. */
async function pausesWith(resource: string, refusal: { code: number; retryAfterSeconds?: number }): Promise<number[]> {
  const faults: Fault[] = [
    { kind: 'silent', resource, verb: 'watch', afterMs: 0 },
    { kind: 'status', ...refusal, resource, verb: 'list', afterMs: 0 },
  ];
  const run = await traced(loadRecording('prestop-fails'), { server: { faults } });
  const asked = run.requests.filter(
    (one) =>
      one.resource === resource &&
      one.verb === 'list' &&
      one.at >= (run.trace?.gone?.at ?? NaN) &&
      !decodeURIComponent(one.url).includes('kind=Node'),
  );
  expect(asked.length).toBeGreaterThan(1);
  return asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? NaN));
}

it.each(['events', 'endpointslices'])(
  'podexit checks a half-open watch of %s less and less often',
  async (resource) => {
    const pauses = await pausesWith(resource, { code: 503 });
    expect(pauses.length).toBeLessThan(10);
    expect(pauses[0]).toBeGreaterThanOrEqual(125);
    // At last between 2.5 and 5 s.
    const growing = pauses.map((pause) => Math.min(pause, 2500));
    expect(growing).toEqual([...growing].sort((a, b) => a - b));
  },
);

it.each([429, 503])('podexit checks a half-open watch no sooner than the Retry-After of a %i allows', async (code) => {
  expect(Math.min(...(await pausesWith('events', { code, retryAfterSeconds: 4 })))).toBeGreaterThanOrEqual(4000);
});
