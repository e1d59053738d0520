/**
 * What `check` and `fix` say about each manifest in cases. The comments at its head are the test: its first line says what
 * is right; `problems` are the codes that a check finds; `says` and `never` are about all that check and fix print; `patch`
 * is about the diff. Lines are joined, so that no pattern depends on the width.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { CheckReport } from '../../src/advice/check-report.ts';
import { isProblem } from '../../src/advice/problem.ts';
import { runMain } from '../cli/helpers/in-process.ts';

const folder = fileURLToPath(new URL('./cases/', import.meta.url));

/** The values of a field at the head of the file. */
const headOf = (text: string, field: string): string[] =>
  [...text.matchAll(new RegExp(`^# ${field}: (.*)$`, 'gm'))].map(([, value = '']) => value);

const titleOf = (file: string): string => readFileSync(join(folder, file), 'utf8').split('\n', 1)[0]?.slice(2) ?? '';

it.each(readdirSync(folder).map((file) => [file, titleOf(file)]))('%s: %s', async (file) => {
  const [path, report] = [join(folder, file), join(tmpdir(), `${file}.json`)];
  const head = readFileSync(path, 'utf8').replace(/^[^#][^]*/m, '');
  const { stdout: card } = await runMain(['check', '-f', path, '--report', report]);
  const { checks } = JSON.parse(readFileSync(report, 'utf8')) as CheckReport;
  const problems = checks.flatMap(({ findings }) => findings.filter(isProblem).map(({ code }) => code));
  const { stdout: diff, stderr } = await runMain(['fix', '-f', path, '--diff']);
  const said = `${card}\n${stderr}`.replace(/\s+/g, ' ');
  for (const wanted of headOf(head, 'problems')) expect([...new Set(problems)].sort().join(' ') || 'none').toBe(wanted);
  expect(headOf(head, 'says').length).toBeGreaterThan(0);
  for (const pattern of headOf(head, 'says')) expect(said).toMatch(new RegExp(pattern, 'i'));
  for (const pattern of headOf(head, 'never')) expect(`${said}\n${diff}`).not.toMatch(new RegExp(pattern, 'm'));
  for (const pattern of headOf(head, 'patch'))
    if (pattern === 'none') expect(diff).toBe('');
    else expect(diff).toMatch(new RegExp(pattern));
});
