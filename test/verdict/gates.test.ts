/** Gates of all recordings. Others are cases of inference: test/infer/cases/gates.yaml. */
import { expect, it } from 'vitest';
import type { GateSpec } from '../../src/verdict/policy.ts';
import { rawObservationsOf, recordingNames } from '../helpers/recordings.ts';
import { verdictWith } from '../infer/cases/gates.ts';

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
    const { gates } = verdictWith(await rawObservationsOf(name), [...absurd, ...generous]);
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
