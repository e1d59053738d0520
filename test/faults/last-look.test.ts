/** A run that gives up says what it knows: that the pod is still there only where a last look has not found it gone. */
import { expect, it } from 'vitest';
import type { Fault } from '../sim/faults/fault.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { heldAgainst } from '../helpers/truth.ts';
import type { Traced } from './helpers/traced.ts';
import { noAnswers } from './helpers/no-answers.ts';
import { traced } from './helpers/traced.ts';

/** The pod is gone after some seconds; the run waits twelve. */
const gaveUp = (recording: string, faults: Fault[]) =>
  traced(loadRecording(recording), { server: { faults }, live: { timeoutMs: 12_000 } });

const ofPods = { resource: 'pods', verb: 'watch', afterMs: 150 } as const;
const streams: [what: string, recording: string, faults: Fault[]][] = [
  ['carries nothing more', 'graceful-exit', [{ kind: 'silent', ...ofPods }]],
  [
    'is cut and refused ever after',
    'graceful-exit',
    [
      { kind: 'drop', ...ofPods },
      { kind: 'status', code: 503, ...ofPods },
    ],
  ],
  [
    'is cut, and another pod has its name by then',
    'statefulset',
    [
      { kind: 'drop', ...ofPods },
      { kind: 'status', code: 503, ...ofPods },
    ],
  ],
];

it.each(streams)('where its stream %s, a pod that is gone is not said to be stuck', async (_, recording, faults) => {
  const removedAt = ({ report }: Traced) => report?.marks.find(({ id }) => id === 'removed')?.at;
  const struck = await gaveUp(recording, faults);
  expect(struck.report?.verdict.outcome).not.toBe('stuck');
  expect(struck.report && heldAgainst(struck.report, struck.truths).filter(({ hit }) => !hit)).toEqual([]);
  const truth = removedAt(await gaveUp(recording, []));
  expect(Date.parse(removedAt(struck)?.earliest ?? '')).toBeLessThanOrEqual(Date.parse(truth?.earliest ?? ''));
  expect(Date.parse(removedAt(struck)?.latest ?? '')).toBeGreaterThanOrEqual(Date.parse(truth?.latest ?? ''));
});

it('where nobody tells of it any more, its end is unknown', async () => {
  const all = { resource: 'pods', afterMs: 150 } as const;
  const { report } = await gaveUp('graceful-exit', [
    { kind: 'drop', ...all },
    { kind: 'status', code: 503, ...all },
  ]);
  expect(report?.verdict.outcome).toBe('unknown');
  expect(report?.gaps.map(({ resource, to }) => [resource, to])).toContainEqual(['pods', undefined]);
});

/** The answer to the DELETE is the last that is received; or the deletion itself is. */
const lastHeard = [0, 150];
/** Longer than a silent stream is left alone, and shorter: then nobody asks before the run gives up. */
const limits = [20_000, 5_000];

it.each(
  noAnswers(1).flatMap(([how, fault]) =>
    lastHeard.flatMap((afterMs) => limits.map((limit) => [how, afterMs, limit, fault] as const)),
  ),
)(
  'where its stream is half-open and %s answers who asks (from +%i ms, for %i ms), its end is unknown',
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
  ['answers', []],
  ['answers, but for once', [{ kind: 'status', code: 503, resource: 'pods', verb: 'get', afterMs: 0, times: 1 }]],
];

it.each(quiet)(
  'a pod whose stream is quiet and whose server %s is stuck, and nothing is missing',
  async (_, faults) => {
    const { report } = await traced(loadRecording('no-grace-spec-default'), {
      server: { faults },
      live: { timeoutMs: 25_000 },
    });
    expect(report?.verdict).toMatchObject({ outcome: 'stuck', exitCode: 3 });
    expect(report?.gaps).toEqual([]);
  },
);

it('a stream that has just spoken is believed, whatever a busy server says', async () => {
  const { report } = await traced(loadRecording('finalizer'), {
    server: { faults: [{ kind: 'status', code: 429, resource: 'pods', verb: 'get' }] },
    live: { timeoutMs: 1500 },
  });
  expect(report?.verdict).toMatchObject({ outcome: 'stuck', exitCode: 3 });
  expect(report?.gaps).toEqual([]);
});

it('a pod that is still there is stuck, also where its stream is lost', async () => {
  const held = loadRecording('finalizer');
  const faults: Fault[] = [
    { kind: 'drop', resource: 'pods', verb: 'watch', afterMs: 300 },
    { kind: 'status', code: 503, resource: 'pods', verb: 'watch', afterMs: 300 },
  ];
  const { report } = await traced(held, { server: { faults }, live: { timeoutMs: 1500 } });
  expect(report?.verdict.outcome).toBe('stuck');
});
