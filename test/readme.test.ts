import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { renderReadme } from '../scripts/readme.ts';
import { exitCodes } from '../src/verdict/exit-code.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');

it('shows the picture and the Role that the program makes (npx tsx scripts/readme.ts)', () => {
  expect(readme).toBe(renderReadme(readme));
});

it('names every outcome with its exit code', () => {
  const rows = readme.split('\n').filter((line) => /^\|\s*\d\s*\|/.test(line));
  for (const [outcome, code] of Object.entries(exitCodes))
    expect(
      rows.find((row) => row.includes(`\`${outcome}\``)),
      outcome,
    ).toMatch(new RegExp(`^\\|\\s*${code}\\s*\\|`));
});

it('links only to files that are there', () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link]) => link ?? '');
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((link) => !existsSync(`${root}${link}`))).toEqual([]);
});
