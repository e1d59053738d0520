/** Checks the scenarios of the end-to-end test without a cluster. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadAll } from 'js-yaml';
import { table } from './scenarios.ts';

const folder = fileURLToPath(new URL('./manifests/', import.meta.url));
const names = readdirSync(folder).map((file) => file.replace('.yaml', ''));

it('are at least twelve, and each has a row in the table', () => {
  expect(names.length).toBeGreaterThanOrEqual(12);
  expect(Object.keys(table).sort()).toEqual(names.sort());
});

it.each(names)('%s is YAML that names its scenario, its image and its pull policy', (name) => {
  const text = readFileSync(`${folder}${name}.yaml`, 'utf8');
  const [first] = loadAll(text) as { kind: string }[];
  expect(['Pod', 'Deployment']).toContain(first?.kind);
  expect(text).toContain(`scenario: ${name}`);
  const images = text.match(/image: .*/g) ?? [];
  expect(new Set(images)).toEqual(new Set(['image: ${IMAGE}']));
  expect(text.match(/imagePullPolicy: \$\{PULL\}/g)).toHaveLength(images.length);
});
