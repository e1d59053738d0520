/** A run that times out gets the pod once more, and reports it as stuck only if it still exists. */
import { expect, it } from 'vitest';
import type { Fault } from '../sim/faults/fault.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { heldAgainst } from '../helpers/truth.ts';
import type { Traced } from './helpers/traced.ts';
import { noAnswers } from './helpers/no-answers.ts';
import { traced } from './helpers/traced.ts';

/** The pod is removed after some seconds; the run waits twelve. */
const gaveUp = (recording: string, faults: Fault[]) =>
  traced(loadRecording(recording), { server: { faults }, live: { timeoutMs: 12_000 } });

const ofPods = { resource: 'pods', verb: 'watch', afterMs: 150 } as const;
const streams: [what: string, recording: string, faults: Fault[]][] = [
  ['carries nothing more', 'graceful-exit', [{ kind: 'silent', ...ofPods }]],
  [
    'breaks and is refused from then on',
    'graceful-exit',
    [
      { kind: 'drop', ...ofPods },
      { kind: 'status', code: 503, ...ofPods },
    ],
  ],
  [
    'breaks, and another pod then has its name',
    'statefulset',
    [
      { kind: 'drop', ...ofPods },
      { kind: 'status', code: 503, ...ofPods },
    ],
  ],
];

it.each(streams)('a removed pod whose stream %s is not reported as stuck', async (_, recording, faults) => {
  const removedAt = ({ report }: Traced) => report?.marks.find(({ id }) => id === 'removed')?.at;
  const struck = await gaveUp(recording, faults);
  expect(struck.report?.verdict.outcome).not.toBe('stuck');
  expect(struck.report && heldAgainst(struck.report, struck.truths).filter(({ hit }) => !hit)).toEqual([]);
  const truth = removedAt(await gaveUp(recording, []));
  expect(Date.parse(removedAt(struck)?.earliest ?? '')).toBeLessThanOrEqual(Date.parse(truth?.earliest ?? ''));
  expect(Date.parse(removedAt(struck)?.latest ?? '')).toBeGreaterThanOrEqual(Date.parse(truth?.latest ?? ''));
});

it('the outcome is unknown if the streams of pods break and every request for pods gets a 503', async () => {
  const all = { resource: 'pods', afterMs: 150 } as const;
  const { report } = await gaveUp('graceful-exit', [
    { kind: 'drop', ...all },
    { kind: 'status', code: 503, ...all },
  ]);
  expect(report?.verdict.outcome).toBe('unknown');
  expect(report?.gaps.map(({ resource, to }) => [resource, to])).toContainEqual(['pods', undefined]);
});

/** The last thing that arrives is the response to the DELETE, or the deletion itself. */
const lastReceivedAt = [0, 150];
/** Longer than the time until podexit checks a silent stream, and shorter: then it checks only at the timeout. */
const limits = [20_000, 5_000];

it.each(
  noAnswers(1).map(
    ([how, fault], index) => [how, lastReceivedAt[index % 2] ?? 0, limits[(index >> 1) % 2] ?? 0, fault] as const,
  ),
)(
  'the outcome is unknown if the stream is half-open and a get is answered with %s (+%i ms, timeout %i ms)',
  async (_, afterMs, timeoutMs, fault) => {
    const faults: Fault[] = [
      { kind: 'silent', resource: 'pods', verb: 'watch', afterMs },
      { ...fault, resource: 'pods', verb: 'get', afterMs },
    ];
    const run = await traced(loadRecording('graceful-exit'), { server: { faults }, live: { timeoutMs } });
    expect(run.report?.verdict).toMatchObject({ outcome: 'unknown', exitCode: 4 });
    expect(run.report?.verdict.findings.map(({ code }) => code)).toContain('evidence-lost');
    const gap = run.report?.gaps.find(({ resource }) => resource === 'pods');
    expect(gap?.cause).toBe('disconnected');
    expect(gap?.to).toBeUndefined();
    const received = run.observations.filter((one) => one.kind === 'changed' && one.stream === 'pod');
    const sentAt = run.observations.find(({ kind }) => kind === 'requested')?.at ?? NaN;
    expect(Date.parse(gap?.from ?? '')).toBeLessThanOrEqual(received.at(-1)?.at ?? sentAt);
    expect(Date.parse(gap?.from ?? '')).toBeGreaterThan(sentAt - 1000);
  },
);

const quiet: [what: string, faults: Fault[]][] = [
  ['answers every request', []],
  [
    'answers all requests but one',
    [{ kind: 'status', code: 503, resource: 'pods', verb: 'get', afterMs: 0, times: 1 }],
  ],
];

it.each(quiet)('a pod whose stream is quiet is stuck, without a gap, if the server %s', async (_, faults) => {
  const { report } = await traced(loadRecording('no-grace-spec-default'), {
    server: { faults },
    live: { timeoutMs: 25_000 },
  });
  expect(report?.verdict).toMatchObject({ outcome: 'stuck', exitCode: 3 });
  expect(report?.gaps).toEqual([]);
});

it('a stream with a recent change is enough to report a stuck pod, even if the server is busy', async () => {
  const { report } = await traced(loadRecording('finalizer'), {
    server: { faults: [{ kind: 'status', code: 429, resource: 'pods', verb: 'get' }] },
    live: { timeoutMs: 1500 },
  });
  expect(report?.verdict).toMatchObject({ outcome: 'stuck', exitCode: 3 });
  expect(report?.gaps).toEqual([]);
});

it('a pod that still exists is stuck, even if its stream is broken', async () => {
  const held = loadRecording('finalizer');
  const faults: Fault[] = [
    { kind: 'drop', resource: 'pods', verb: 'watch', afterMs: 300 },
    { kind: 'status', code: 503, resource: 'pods', verb: 'watch', afterMs: 300 },
  ];
  const { report } = await traced(held, { server: { faults }, live: { timeoutMs: 1500 } });
  expect(report?.verdict.outcome).toBe('stuck');
});
