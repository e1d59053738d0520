import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { renderPermissions, renderPicture } from '../scripts/docs/readme-parts.ts';
import { exitCodes } from '../src/verdict/exit-code.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');

it('shows a terminal picture of current output (npm run docs)', async () => {
  expect(readFileSync(`${root}docs/terminal.svg`, 'utf8')).toBe(await renderPicture());
});

it('shows the Roles that the program prints (npm run docs)', () => {
  const page = readFileSync(`${root}docs/permissions.md`, 'utf8');
  expect(page).toBe(renderPermissions(page));
});

it('is short: at most 1,200 words', () => {
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1200);
});

it('names every outcome with its exit code', () => {
  const rows = readme.split('\n').filter((line) => /^\|\s*\d\s*\|/.test(line));
  for (const [outcome, code] of Object.entries(exitCodes))
    expect(
      rows.find((row) => row.includes(`\`${outcome}\``)),
      outcome,
    ).toMatch(new RegExp(`^\\|\\s*${code}\\s*\\|`));
});

it('links only to existing files', () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link]) => link ?? '');
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((link) => !existsSync(`${root}${link}`))).toEqual([]);
});
