/** `check -f` on manifests of many shapes. The first comment of each file lists its problems; no others may show. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { CheckedObject, CheckReport } from '../../src/advice/check-report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { sarifFaults } from './helpers/sarif.ts';
import { faultsBy } from './helpers/schemas.ts';

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

  it('has the problems that it says, on lines that are there', async () => {
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

  it('says "cannot tell" where it says so', async () => {
    const [, open] = /^# cannot tell: (\S+)$/m.exec(text) ?? [];
    const { report } = await checkFile('-f', join(folder, file));
    const unclear = report.checks.filter(({ judgement }) => judgement === 'cannot-tell').map(namesOf);
    expect(unclear).toEqual(open === undefined ? [] : [open]);
  });
});

it('the document is valid by its schema', async () => {
  const { report } = await checkFile('-f', folder);
  expect(faultsBy('check-report', report)).toEqual([]);
});

it('a whole folder is one document, and as many objects as its files hold', async () => {
  const { report } = await checkFile('-f', folder);
  expect(report.kind).toBe('CheckReport');
  expect(new Set(report.checks.map(({ file }) => file)).size).toBe(files.length);
  const ranks = report.checks.map(({ judgement }) =>
    ['problems', 'cannot-tell', 'no-problem-found'].indexOf(judgement),
  );
  expect(ranks).toEqual([...ranks].sort());
});

it('a finding names the line of the field that it is about', async () => {
  const file = join(folder, 'hook-half-of-grace.yaml');
  const { report } = await checkFile('-f', file);
  const finding = report.checks[0]?.findings.find(({ code }) => code === 'prestop-heavy');
  expect(readFileSync(file, 'utf8').split('\n')[(finding?.line ?? 0) - 1]).toMatch(/^ +preStop:$/);
  expect(finding?.field).toBe('spec.template.spec.containers[0].lifecycle.preStop');
});

describe('input that is broken', () => {
  const inFolder = async (texts: Record<string, string>, work: (path: string) => Promise<void>): Promise<void> => {
    const path = mkdtempSync(join(tmpdir(), 'podexit-'));
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(path, name), text);
    try {
      await work(path);
    } finally {
      rmSync(path, { recursive: true });
    }
  };
  const good = readFileSync(join(folder, 'sleep-forever.yaml'), 'utf8');

  it('is one error with its line, and everything else is judged', () =>
    inFolder({ 'a.yaml': `${good}---\nkind: Deployment\n  bad: [\n`, 'b.yaml': good }, async (path) => {
      const { code, report } = await checkFile('-f', path);
      expect(code).toBe(1);
      expect(report.checks.map(problemsIn)).toEqual([['no-signal-handling'], ['no-signal-handling']]);
      expect(report.errors).toHaveLength(1);
      expect(report.errors[0]).toMatchObject({ file: join(path, 'a.yaml') });
      expect(report.errors[0]?.line).toBeGreaterThan(good.split('\n').length);
    }));

  it.each([
    ['a template that was not rendered', 'kind: {{ .Values.kind }}\nname: x\n'],
    ['no object', 'just a text\n'],
    ['a list without kinds', '- a\n- b\n'],
    [
      'aliases that stand for billions',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nkind: Pod\n`,
    ],
  ])('%s', (_title, text) =>
    inFolder({ 'a.yaml': text }, async (path) => {
      const { code, report } = await checkFile('-f', join(path, 'a.yaml'));
      expect(code).toBe(1);
      expect(report.errors).toHaveLength(1);
    }),
  );

  it('a file that is not there', async () => {
    const { code, report } = await checkFile('-f', '/nowhere/x.yaml');
    expect(code).toBe(1);
    expect(report.errors).toMatchObject([{ file: '/nowhere/x.yaml', message: 'cannot be read (ENOENT)' }]);
  });

  it.each([
    { kind: 'Pod', spec: 'text', metadata: [] },
    { kind: 'Deployment', spec: { template: { spec: { containers: [{ name: 7, command: 'sh -c' }, null, 'x'] } } } },
    {
      kind: 'StatefulSet',
      spec: { replicas: 'many', template: { metadata: { labels: [1] }, spec: { containers: {} } } },
    },
    { kind: 'List', items: [{ kind: 'Pod' }, null, 3] },
  ])('fields of other types than the API has are as good as absent: %j', (object) =>
    inFolder({ 'a.json': JSON.stringify(object) }, async (path) => {
      const { stdout, stderr } = await runMain(['check', '-f', path, '-o', 'json']);
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'CheckReport' });
    }),
  );
});

describe('for pipelines', () => {
  const file = join(folder, 'classic-sidecars.yaml');

  it.each([
    ['of manifests', [folder]],
    ['with input that cannot be read', [file, '/nowhere/x.yaml']],
  ])('SARIF %s is valid by the parts of its schema that it uses', async (_title, names) => {
    const { stdout } = await runMain(['check', ...names.flatMap((name) => ['-f', name]), '-o', 'sarif']);
    expect(sarifFaults(JSON.parse(stdout))).toEqual([]);
  });

  it('SARIF names file, line and rule', async () => {
    const { stdout } = await runMain(['check', '-f', file, '-o', 'sarif']);
    expect(stdout).toMatch(/"ruleId": "classic-sidecar"[\s\S]*"startLine": 1\d/);
  });

  it('JUnit fails only with the gate', async () => {
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

  it('names that a manifest brings act in no terminal', async () => {
    const path = mkdtempSync(join(tmpdir(), 'podexit-'));
    writeFileSync(
      join(path, 'a.yaml'),
      'kind: Pod\nmetadata: {name: "\\e[31mred"}\nspec: {containers: [{name: "\\e[2J", command: [sleep, "1"]}]}\n',
    );
    const { stdout } = await runMain(['check', '-f', path]);
    rmSync(path, { recursive: true });
    expect(stdout).toContain('\\x1b[31mred');
    expect(stdout).not.toContain('\u001b');
  });
});
