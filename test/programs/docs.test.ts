import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { programDocs } from '../../scripts/docs/programs-page.ts';

it('docs/programs.md has the tables that its data make', async () => {
  const page = await readFile(new URL('../../docs/programs.md', import.meta.url), 'utf8');
  expect(page).toBe(await programDocs(page));
});
