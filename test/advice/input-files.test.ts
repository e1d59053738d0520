/** Files as people and attackers have them: encodings of Windows, deep nesting, large files, links in a folder. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { CheckReport } from '../../src/advice/check-report.ts';
import { yaml11 } from '../../src/advice/manifests.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { casesIn } from '../helpers/case-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const written = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers: [{name: app, image: app}] # é\n';

it.each(casesIn<unknown>(new URL('plain-values.yaml', import.meta.url)))(
  'a plain value of YAML is read as kubectl reads it: %s',
  (text, value) => expect(parse(`key: ${text}`, yaml11)).toEqual({ key: value }),
);

async function checked(path: string) {
  const { stdout } = await runMain(['check', '-f', path, '-o', 'json']);
  const { checks, errors } = JSON.parse(stdout) as CheckReport;
  return { judged: checks.map(({ name }) => name), errors: errors.map(({ message }) => message).sort() };
}

it.each<[string, Buffer]>([
  ['UTF-16, little-endian', Buffer.from(`\ufeff${pod}`, 'utf16le')],
  ['UTF-16, big-endian', Buffer.from(`\ufeff${pod}`, 'utf16le').swap16()],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${pod}`)],
])('reads a manifest in %s, named without -f', async (_title, bytes) => {
  const { code, stdout } = await runMain(['check', written('web.yaml', bytes)]);
  expect(code).toBe(0);
  expect(stdout).toContain('pod/web');
  const fixed = await runMain(['fix', join(folder, 'web.yaml'), '-o', 'yaml']);
  expect(fixed.stdout).toBe(`\ufeff${pod}`);
});

it.each(['utf16le', 'utf8'] as const)('reads a report in %s with a byte order mark', async (encoding) => {
  const fix = {
    reason: 'y',
    target: { kind: 'Deployment', name: 'web' },
    patch: { spec: { replicas: 2 } },
    command: '',
  };
  const report = JSON.stringify({ apiVersion: 'podexit/v1', kind: 'ExitReport', fix: [fix] });
  const { code, stdout } = await runMain(['fix', written('exit.json', Buffer.from(`\ufeff${report}`, encoding))]);
  expect(code).toBe(0);
  expect(stdout).toContain('replicas: 2');
});

it.each([
  ['20,000 brackets', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['an anchor within itself, many times', '&a {a: *a, b: &b [*a, *a, *a], c: &c [*b, *b, *b], d: [*c, *c, *c]}'],
  ['5,000 maps', `${'{a: '.repeat(5000)}1${'}'.repeat(5000)}`],
])('a document with %s causes one error, and the rest is judged', async (_title, nested) => {
  const { judged, errors } = await checked(written('deep.yaml', `kind: Pod\nx: ${nested}\n---\n${pod}`));
  expect(judged).toEqual(['web']);
  expect(errors).toEqual([expect.stringMatching(/nested too deeply/)]);
});

it('a file of 50 MB is read, and a file of more than 64 MB is refused', async () => {
  const line = `kind: ConfigMap\nmetadata: {name: c} # ${'y'.repeat(1_000_000)}\n---\n`;
  const path = written('large.yaml', `${line.repeat(50)}${pod}`);
  expect((await checked(path)).judged).toEqual(['web']);
  truncateSync(path, 65 * 2 ** 20);
  expect((await checked(path)).errors).toEqual(['is larger than 64 MB']);
});

it('a link to its own folder, a folder named like a file and thousands of files are no problem', async () => {
  mkdirSync(join(folder, 'many/inner.yaml'), { recursive: true });
  symlinkSync(join(folder, 'many'), join(folder, 'many/self.yaml'));
  symlinkSync(join(folder, 'many/loop.yaml'), join(folder, 'many/loop.yaml'));
  for (let at = 0; at < 3000; at++) written(`many/pod-${at}.yaml`, at % 100 === 0 ? pod : '');
  const { judged, errors } = await checked(join(folder, 'many'));
  expect(judged).toHaveLength(30);
  expect(errors).toEqual(['cannot be read (EISDIR)', 'cannot be read (ELOOP)']);
});
