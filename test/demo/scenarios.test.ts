import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  parseScenario,
  loadScenario,
  scenariosNamed,
  shippedScenarios,
  type ShippedScenario,
} from '../../src/demo/scenarios.ts';
import { scenariosToTry } from '../../src/cli/demo.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { loadRecording } from './helpers/load.ts';

describe('the shipped scenarios', () => {
  it.each(shippedScenarios.map((one) => [one.name, one] as const))(
    '%s is its recording with the true instants',
    (name, one) => {
      expect(loadScenario(one)).toEqual(loadRecording(one.recording ?? one.plays ?? name));
      expect(one.about).toMatch(/^[A-Z].*\.$/);
    },
  );

  it('have a file each, and the table has all files', () => {
    const files = readdirSync(new URL('../../src/demo/scenarios', import.meta.url));
    const played = new Set(shippedScenarios.map(({ name, plays = name }) => `${plays}.ndjson.gz`));
    expect(files.sort()).toEqual([...played].sort());
  });

  it('lead from one to the next, and name an existing fixed version', () => {
    for (const { fixed } of shippedScenarios)
      expect(fixed === undefined || scenariosNamed(fixed)[0]?.name).not.toBe(undefined);
    const seen = new Set<string>();
    const after = (one: ShippedScenario) => scenariosNamed(scenariosToTry(one).at(-1) ?? '')[0];
    for (let one = shippedScenarios[0]; one !== undefined && !seen.has(one.name); one = after(one)) seen.add(one.name);
    expect(seen.size).toBeGreaterThan(14);
  });

  it('are found by the beginning of their names', () => {
    const found = (name: string): string[] => scenariosNamed(name).map((one) => one.name);
    expect(found('sigkill')).toEqual(['sigkill-after-grace']);
    expect(found('prestop')).toEqual(['prestop-exceeds-grace', 'prestop-sleep', 'prestop-fails']);
    expect(found('lost-requests')).toEqual(['lost-requests']);
    expect(found('../scenarios/exit-143')).toEqual([]);
  });
});

it('after each scenario only commands that run are suggested: only the format is refused', async () => {
  const suggested = new Set(shippedScenarios.flatMap((one) => [...scenariosToTry(one), ...scenariosToTry(one, true)]));
  expect(suggested.size).toBeGreaterThan(shippedScenarios.length);
  for (const words of suggested) {
    const ran = await runMain(['demo', ...words.split(' '), '-o', 'nothing']);
    expect(ran.stderr, words).toMatch(/^error: .*nothing/m);
  }
});

it('a file that is not a scenario is refused', () => {
  expect(() => parseScenario('{"type":"about","scenario":"a","about":"b"}\n{"typ')).toThrow(/JSON/);
  expect(() => parseScenario('{"type":"ready","at":"2026-01-01T00:00:00.000Z"}')).toThrow(/no "about" row/);
});
