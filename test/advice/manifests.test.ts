/** `check -f` on manifests of many shapes. The first comments of each file list all its problems, and those that `fix` leaves. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv2020 from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { CheckedObject, CheckReport } from '../../src/advice/check-report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { faultsBy } from '../helpers/schemas.ts';

const folder = fileURLToPath(new URL('./manifests/', import.meta.url));
const files = readdirSync(folder).sort();

const namesOf = ({ kind, name }: CheckedObject): string => `${kind.toLowerCase()}/${name}`;

/** `# problems: deployment/web drain-race; pod/two force-deleted` */
function expectedIn(text: string): Record<string, string[]> {
  const [, listed = ''] = /^# problems: (.*)$/m.exec(text) ?? [];
  if (listed === 'none') return {};
  return Object.fromEntries(
    listed.split(';').map((part) => {
      const [name = '', ...codes] = part.trim().split(' ');
      return [name, codes.sort()];
    }),
  );
}

async function checkFile(...words: string[]): Promise<{ code: number; report: CheckReport; stderr: string }> {
  const { code, stdout, stderr } = await runMain(['check', ...words, '-o', 'json']);
  return { code, report: JSON.parse(stdout) as CheckReport, stderr };
}

const problemsIn = ({ findings }: CheckedObject): string[] =>
  findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code);

describe.each(files)('%s', (file) => {
  const text = readFileSync(join(folder, file), 'utf8');

  it('has exactly the listed problems, on existing lines', async () => {
    const { code, report } = await checkFile('-f', join(folder, file));
    expect(code).toBe(0);
    const found = report.checks.filter((one) => problemsIn(one).length > 0);
    expect(Object.fromEntries(found.map((one) => [namesOf(one), problemsIn(one).sort()]))).toEqual(expectedIn(text));
    const lines = text.split('\n').length;
    for (const finding of report.checks.flatMap(({ findings }) => findings)) {
      expect(finding.file).toBe(join(folder, file));
      expect(finding.line).toBeGreaterThan(1);
      expect(finding.line).toBeLessThanOrEqual(lines);
    }
  });

  it('is "cannot tell" exactly for the listed object', async () => {
    const [, open] = /^# cannot tell: (\S+)$/m.exec(text) ?? [];
    const { report } = await checkFile('-f', join(folder, file));
    const unclear = report.checks.filter(({ judgement }) => judgement === 'cannot-tell').map(namesOf);
    expect(unclear).toEqual(open === undefined ? [] : [open]);
  });
});

it('the JSON document fits its schema', async () => {
  const { report } = await checkFile('-f', folder);
  expect(faultsBy('check-report', report)).toEqual([]);
});

it('a whole folder is one document with the objects of all files, worst first', async () => {
  const { report } = await checkFile('-f', folder);
  expect(report.kind).toBe('CheckReport');
  expect(new Set(report.checks.map(({ file }) => file)).size).toBe(files.length);
  const ranks = report.checks.map(({ judgement }) =>
    ['problems', 'cannot-tell', 'no-problem-found'].indexOf(judgement),
  );
  expect(ranks).toEqual([...ranks].sort());
});

it.each([
  ['minAvailable: 1', /^Lower minAvailable:/],
  ['maxUnavailable: 0', /^Set maxUnavailable to 1 or more/],
  ['minAvailable: 100%', /^Lower minAvailable/],
])('against a budget with %s, the advice helps', async (limit, advice) => {
  const text = readFileSync(join(folder, 'budget-blocks.yaml'), 'utf8').replace('minAvailable: 1', limit);
  const path = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'a.yaml');
  writeFileSync(path, text);
  const { report } = await checkFile('-f', path);
  rmSync(dirname(path), { recursive: true });
  const found = report.checks.flatMap(({ findings }) => findings).find(({ code }) => code === 'budget-blocks-eviction');
  expect(found?.advice).toMatch(advice);
});

it('a finding has the line of its field', async () => {
  const file = join(folder, 'hook-over-half-of-grace.yaml');
  const { report } = await checkFile('-f', file);
  const finding = report.checks[0]?.findings.find(({ code }) => code === 'prestop-heavy');
  expect(readFileSync(file, 'utf8').split('\n')[(finding?.line ?? 0) - 1]).toMatch(/^ +preStop:$/);
  expect(finding?.field).toBe('spec.template.spec.containers[0].lifecycle.preStop');
});

interface Sarif {
  runs: [{ tool: { driver: { rules: { id: string }[] } }; results: { ruleId: string }[] }];
}

const sarif = parse(readFileSync(new URL('sarif.yaml', import.meta.url), 'utf8')) as object;
const isSarif = new Ajv2020({ allErrors: true, strict: true }).compile(sarif);

describe('for pipelines', () => {
  const file = join(folder, 'classic-sidecars.yaml');

  it.each([
    ['of manifests', [folder]],
    ['with input that cannot be read', [file, '/nowhere/x.yaml']],
  ])('SARIF %s fits its schema', async (_title, names) => {
    const { stdout } = await runMain(['check', ...names.flatMap((name) => ['-f', name]), '-o', 'sarif']);
    const document = JSON.parse(stdout) as Sarif;
    expect(isSarif(document) ? [] : isSarif.errors).toEqual([]);
    const [{ tool, results }] = document.runs;
    const rules = tool.driver.rules.map(({ id }) => id);
    expect(results.map(({ ruleId }) => ruleId).filter((id) => !rules.includes(id))).toEqual([]);
  });

  it('SARIF has the line and the rule', async () => {
    const { stdout } = await runMain(['check', '-f', file, '-o', 'sarif']);
    expect(stdout).toMatch(/"ruleId": "classic-sidecar"[\s\S]*"startLine": 1\d/);
  });

  it.each([
    ['warning', []],
    ['error', ['--fail-on', 'classic-sidecar']],
  ])('GitHub gets %ss at the lines of the manifest, and the summary of the step', async (level, flags) => {
    const summary = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'summary.md');
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
    const { stdout } = await runMain(['check', '-f', file, ...flags], { env });
    expect(stdout).toMatch(
      new RegExp(`^::${level} file=.*classic-sidecars.yaml,line=1\\d,title=podexit classic-sidecar%3A`, 'm'),
    );
    expect(readFileSync(summary, 'utf8')).toContain('| workload | result | findings |');
  });

  it('JUnit has a failure only with a failed gate', async () => {
    const calm = await runMain(['check', '-f', file, '-o', 'junit']);
    expect(calm.stdout).toMatch(/failures="0"/);
    const red = await runMain(['check', '-f', file, '-o', 'junit', '--fail-on', 'classic-sidecar']);
    expect(red.code).toBe(5);
    expect(red.stdout).toMatch(/<failure message=".*classic-sidecar/);
  });

  it('Markdown is a table', async () => {
    const { stdout } = await runMain(['check', '-f', file, '-o', 'markdown']);
    expect(stdout).toMatch(/\| workload \| result \| findings \|\n\| --- \|/);
  });
});
