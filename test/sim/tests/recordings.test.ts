/** Compares the simulated kubelet with a real cluster: same observable order and shape, except for small races. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RecordedRow } from '../rows.ts';
import { simulate } from '../simulate.ts';
import type { Truth } from '../truth.ts';
import { shapeOf } from './shape.ts';
import { barePods } from './stories/bare-pods.ts';
import { disturbed } from './stories/disturbed.ts';
import { keptPods } from './stories/kept-pods.ts';

const stories = { ...barePods, ...disturbed, ...keptPods };
const folder = new URL('../../scenarios/', import.meta.url);

const recorded = (scenario: string): RecordedRow[] =>
  readFileSync(new URL(`${scenario}.ndjson`, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedRow);

const truthOf = (scenario: string): Truth[] =>
  JSON.parse(readFileSync(new URL(`../recordings/${scenario}.truth.json`, folder), 'utf8')) as Truth[];

describe('a simulated story', () => {
  it('exists for every recording', () => {
    const scenarios = readdirSync(folder).flatMap((file) => (file.endsWith('.ndjson') ? [file.slice(0, -7)] : []));
    expect(Object.keys(stories).sort()).toEqual(scenarios.sort());
  });

  for (const [scenario, story] of Object.entries(stories)) {
    it(`looks like the recording of ${scenario}`, () => {
      const simulated = simulate({ ...story, name: scenario });
      const real = recorded(scenario);
      expect(shapeOf(simulated.rows, story.pod.name)).toEqual(shapeOf(real, story.pod.name));
    });

    it(`stops the containers as in ${scenario}`, () => {
      const facts = (truth: readonly Truth[]) =>
        truth
          .map(({ container, timeout_s, signal, sigkill_sent, exit_status }) => ({
            container,
            timeout_s,
            signal,
            killed: sigkill_sent !== undefined,
            exit_status,
          }))
          .sort((a, b) => a.container.localeCompare(b.container));
      expect(facts(simulate({ ...story, name: scenario }).truth)).toEqual(facts(truthOf(scenario)));
    });
  }
});
