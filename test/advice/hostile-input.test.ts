/** Untrusted files: `check -f` prints one clear error for each, and judges the rest. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CheckReport } from '../../src/advice/check-report.ts';
import { runMain } from '../cli/helpers/in-process.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const pod = (name: string): string =>
  `kind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers:\n  - {name: app, image: app,\n    command: [sleep, '1']}\n`;

let count = 0;
async function check(text: string) {
  const file = join(scratch, `${(count += 1)}.yaml`);
  writeFileSync(file, text);
  const { code, stdout, stderr } = await runMain(['check', '-f', file, '-o', 'json']);
  expect(stderr).toBe('');
  const { checks, errors } = JSON.parse(stdout) as CheckReport;
  return {
    code,
    judged: checks.map(({ name }) => name),
    errors: errors.map(({ line, message }) => `${line}: ${message}`),
    findings: checks.flatMap(({ findings }) => findings),
    judgements: checks.map(({ judgement }) => judgement),
  };
}

describe('a broken document causes one error with its line, and the rest is judged', () => {
  it.each([
    ['tabs', `${pod('a')}---\n${pod('b').replace('  containers', '\tcontainers')}`, /^11: Tabs are not allowed/],
    ['a duplicate key', `${pod('a')}---\n${pod('b')}kind: Job\n`, /^14: Map keys must be unique/],
    ['one of three documents', `${pod('a')}---\nkind: [\n---\n${pod('c')}`, /^9: /],
    [
      '20,000 brackets',
      `kind: Pod\nx: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n---\n${pod('a')}`,
      /nested too deeply/,
    ],
    ['5,000 maps', `kind: Pod\nx: ${'{a: '.repeat(5000)}1${'}'.repeat(5000)}\n---\n${pod('a')}`, /nested too deeply/],
  ])('%s', async (title, text, error) => {
    const { code, judged, errors } = await check(text);
    expect(code).toBe(1);
    expect(judged).toContain(title === 'one of three documents' ? 'c' : 'a');
    expect(errors).toEqual([expect.stringMatching(error)]);
  });
});

describe('unusual input is read as in kubectl', () => {
  it.each([
    ['CRLF', `${pod('a')}---\n${pod('b')}`.replaceAll('\n', '\r\n'), ['a', 'b'], 6],
    ['a byte order mark', `\ufeff${pod('a')}`, ['a'], 6],
    ['empty documents', `---\n---\n# nothing\n---\n${pod('a')}`, ['a'], 10],
    ['unknown kinds', `kind: Widget\nmetadata: {name: w}\n---\n${pod('a')}`, ['a'], 9],
    ['a kind that is a property in JavaScript', `kind: constructor\n---\n${pod('a')}`, ['a'], 8],
    ['keys that are properties in JavaScript', `__proto__: {kind: Job}\n${pod('a')}`, ['a'], 7],
  ])('%s', async (_title, text, names, line) => {
    const { code, judged, findings } = await check(text);
    expect(code).toBe(0);
    expect(judged).toEqual(names);
    expect(findings.find(({ code: of }) => of === 'no-signal-handling')?.line).toBe(line);
  });

  it('a merge key is applied', async () => {
    const text = `x: &b {terminationGracePeriodSeconds: 0}\n${pod('a').replace('spec:', 'spec:\n  <<: *b')}`;
    expect((await check(text)).findings.map(({ code }) => code)).toContain('force-deleted');
  });
});

it.each([
  ['no spec', 'kind: Pod\nmetadata: {name: a}\n'],
  ['no pod template', 'kind: Deployment\nmetadata: {name: a}\nspec: {replicas: 3}\n'],
  ['an empty CronJob', 'kind: CronJob\nmetadata:\nspec:\n'],
  ['names that are numbers', 'kind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: 5}]}\n'],
])('a pod without a readable container is judged as "cannot tell": %s', async (_title, text) => {
  expect((await check(text)).judgements).toEqual(['cannot-tell']);
});

it('a patch is not judged: its base has the rest', async () => {
  const patch = pod('a').replace('image: app,', 'lifecycle: {preStop: {sleep: {seconds: 40}}},');
  const { judgements, findings } = await check(patch);
  expect(judgements).toEqual(['cannot-tell']);
  expect(findings).toEqual([]);
});

it('a file of 50 MB is read, and a file of more than 64 MB is refused', async () => {
  const line = `kind: ConfigMap\nmetadata: {name: c}\ndata: {x: ${'y'.repeat(100_000)}}\n---\n`;
  expect((await check(`${line.repeat(500)}${pod('a')}`)).judged).toEqual(['a']);
  expect((await check(`${line.repeat(700)}${pod('a')}`)).errors).toEqual(['1: is larger than 64 MB']);
});

describe('folders', () => {
  it('a link to its own folder, a folder named like a file and thousands of files are no problem', async () => {
    const folder = join(scratch, 'folder');
    mkdirSync(join(folder, 'inner.yaml'), { recursive: true });
    symlinkSync(folder, join(folder, 'self.yaml'));
    symlinkSync(join(folder, 'loop.yaml'), join(folder, 'loop.yaml'));
    for (let at = 0; at < 3000; at++)
      writeFileSync(join(folder, `pod-${at}.yaml`), at % 100 === 0 ? pod(`p${at}`) : '');
    const { code, stdout } = await runMain(['check', '-f', folder, '-o', 'json']);
    const report = JSON.parse(stdout) as CheckReport;
    expect(code).toBe(1);
    expect(report.checks).toHaveLength(30);
    expect(report.errors.map(({ message }) => message).sort()).toEqual([
      'cannot be read (EISDIR)',
      'cannot be read (ELOOP)',
    ]);
  });
});
