import { readFileSync } from 'node:fs';
import { parseScenario, type Scenario, type Truth } from '../../../src/demo/scenarios.ts';

const tests = new URL('../../', import.meta.url);

/** A recording with the true instants of its containers. */
export function loadRecording(name: string): Scenario {
  const truths = JSON.parse(read(`recordings/${name}.truth.json`)) as Truth[];
  const scenario = parseScenario(read(`scenarios/${name}.ndjson`));
  return { ...scenario, rows: [...scenario.rows, ...truths.map((truth) => ({ type: 'truth' as const, ...truth }))] };
}

/** A recording with changed rows. */
export function edited(scenario: Scenario, edit: (row: Scenario['rows'][number]) => unknown): Scenario {
  const rows = structuredClone(scenario.rows);
  rows.forEach(edit);
  return { ...scenario, rows };
}

function read(file: string): string {
  return readFileSync(new URL(file, tests), 'utf8');
}
