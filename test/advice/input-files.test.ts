/** Files as people have them: encodings of Windows, kustomizations, names without -f, names that do not exist. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const written = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers: [{name: app, image: app}] # é\n';

const encodings: [string, Buffer][] = [
  ['UTF-16, little-endian', Buffer.from(`\ufeff${pod}`, 'utf16le')],
  ['UTF-16, big-endian', Buffer.from(`\ufeff${pod}`, 'utf16le').swap16()],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${pod}`)],
];

it.each(encodings)('reads a manifest in %s, named without -f', async (_title, bytes) => {
  const { code, stdout } = await runMain(['check', written('web.yaml', bytes)]);
  expect(code).toBe(0);
  expect(stdout).toContain('pod/web');
  const fixed = await runMain(['fix', join(folder, 'web.yaml'), '-o', 'yaml']);
  expect(fixed.stdout).toBe(`\ufeff${pod}`);
});

it.each(['utf16le', 'utf8'] as const)('reads a report in %s with a byte order mark', async (encoding) => {
  const fix = {
    reason: 'why',
    target: { kind: 'Deployment', name: 'web' },
    patch: { spec: { replicas: 2 } },
    command: '…',
  };
  const report = JSON.stringify({ apiVersion: 'podexit/v1', kind: 'ExitReport', fix: [fix] });
  const { code, stdout } = await runMain(['fix', written('exit.json', Buffer.from(`\ufeff${report}`, encoding))]);
  expect(code).toBe(0);
  expect(stdout).toContain('replicas: 2');
});

it('skips a kustomization without a kind, and says how to build it', async () => {
  const own = join(folder, 'app');
  mkdirSync(own);
  written('app/web.yaml', pod);
  written('app/kustomization.yaml', 'resources:\n- web.yaml\n');
  const { code, stdout, stderr } = await runMain(['check', '-f', own]);
  expect(code).toBe(0);
  expect(stdout).toContain('pod/web');
  expect(stderr).toContain(`name its folder with -k ${own}`);
});

it('says that a file does not exist', async () => {
  const { code, stdout } = await runMain(['check', join(folder, 'nowhere.yaml')]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/nowhere\.yaml:1: does not exist|nowhere\.yaml.*does not exist/);
});

it('matches a kind with its group, and judges pod templates of custom resources', async () => {
  const template = 'template:\n    spec:\n      containers: [{name: w, image: x, command: [sleep, infinity]}]\n';
  const rollout = `apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web}\nspec:\n  replicas: 2\n  ${template}`;
  const job = `apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {generateName: train-}\nspec:\n  tasks:\n  - name: worker\n    ${template.replaceAll('\n', '\n  ')}`;
  const file = written('custom.yaml', `${rollout}---\n${job}`);
  const { stdout } = await runMain(['check', '-f', file]);
  expect(stdout).toContain('rollout.argoproj.io/web');
  expect(stdout).toContain('job.batch.volcano.sh/train-');
  expect(stdout).toMatch(/the strategy of Rollout\.argoproj\.io is\s+not known/);
  expect(stdout.match(/no-signal-handling/g)?.length).toBeGreaterThanOrEqual(2);
  const fixed = await runMain(['fix', '-f', file, '-o', 'yaml']);
  expect(fixed.stdout).toBe(`${rollout}---\n${job}`);
});
