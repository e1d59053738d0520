/** The SBOM of an executable. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { executableSbom } from '../../scripts/release/sbom.ts';
import { root } from '../helpers/built.ts';

interface Component {
  name: string;
  version: string;
  hashes?: { alg: string; content: string }[];
}

it('names the packages of the lock file and the Node of the executable, with its hash', async () => {
  const file = new URL('../../package.json', import.meta.url);
  const text = await executableSbom(root, file.pathname, '20.20.0');
  const { bomFormat, components } = JSON.parse(text) as { bomFormat: string; components: Component[] };
  expect(bomFormat).toBe('CycloneDX');
  expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['commander', 'js-yaml', 'node']));
  const content = createHash('sha256').update(readFileSync(file)).digest('hex');
  expect(components.find(({ name }) => name === 'node')).toMatchObject({
    version: '20.20.0',
    hashes: [{ alg: 'SHA-256', content }],
  });
});
