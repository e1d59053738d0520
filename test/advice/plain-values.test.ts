/** Plain values of YAML, as kubectl 1.32.4 (sigs.k8s.io/yaml 1.4) sent them to an API server. */
import { parse } from 'yaml';
import { expect, it } from 'vitest';
import { yaml11 } from '../../src/advice/manifests.ts';

it.each([
  ['e2', 'e2'],
  ['.e5', '.e5'],
  ['.', '.'],
  ['-.', '-.'],
  ['22:30', '22:30'],
  ['190:20:30', '190:20:30'],
  ['2026-01-02', '2026-01-02'],
  ['1e', '1e'],
  ['=', '='],
  ['1e5', 100_000],
  ['.5', 0.5],
  ['1.', 1],
  ['1_000', 1000],
  ['017', 15],
  ['0b11', 3],
  ['0x_1F', 31],
  ['+1', 1],
  ['y', true],
  ['off', false],
])('%s is %j', (text, value) => {
  expect(parse(`key: ${text}`, yaml11)).toEqual({ key: value });
});
