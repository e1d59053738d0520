import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseScenario, type Scenario } from './scenario.ts';

export interface ScenarioLine {
  name: string;
  about: string;
}

const ending = '.ndjson';

/** The scenarios in a directory, by name. Rejects where it cannot be read. */
export async function listScenarios(directory: string): Promise<ScenarioLine[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(ending)).sort();
  const scenarios = await Promise.all(files.map((file) => loadFile(join(directory, file))));
  return scenarios.map(({ name, about }) => ({ name, about }));
}

/** One scenario by name. Rejects with an Error that names the others where there is none of this name. */
export async function loadScenario(directory: string, name: string): Promise<Scenario> {
  const names = (await readdir(directory))
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length));
  if (!names.includes(name)) throw new Error(`there is no scenario "${name}"; there are ${names.sort().join(', ')}`);
  return loadFile(join(directory, `${name}${ending}`));
}

async function loadFile(file: string): Promise<Scenario> {
  return parseScenario(await readFile(file, 'utf8'));
}
