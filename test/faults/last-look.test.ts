/** A run that gives up says what it knows: that the pod is still there only where a last look has not found it gone. */
import { expect, it } from 'vitest';
import type { Fault } from '../../src/loopback/faults/fault.ts';
import { loadRecording } from '../loopback/helpers/load.ts';
import { heldAgainst } from '../helpers/truth.ts';
import type { Traced } from './helpers/traced.ts';
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

it('a pod that is still there is stuck, also where its stream is lost', async () => {
  const held = loadRecording('finalizer');
  const faults: Fault[] = [
    { kind: 'drop', resource: 'pods', verb: 'watch', afterMs: 300 },
    { kind: 'status', code: 503, resource: 'pods', verb: 'watch', afterMs: 300 },
  ];
  const { report } = await traced(held, { server: { faults }, live: { timeoutMs: 1500 } });
  expect(report?.verdict.outcome).toBe('stuck');
});
