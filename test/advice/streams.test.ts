/** Manifests from standard input, as `kubectl kustomize` and `helm template` print them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CheckReport } from '../../src/advice/check-report.ts';
import { bin } from '../helpers/built.ts';
import { hasKubectl } from '../helpers/machines-kubectl.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** Runs the built command with a text as its standard input. */
function piped(input: string, ...words: string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], { input, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

function checked(input: string): CheckReport {
  const { code, stdout } = piped(input, 'check', '-f', '-', '-o', 'json');
  expect(code).toBe(0);
  return JSON.parse(stdout) as CheckReport;
}

const codesOf = ({ checks }: CheckReport): Record<string, string[]> =>
  Object.fromEntries(
    checks.map(({ kind, name, findings }) => [
      `${kind}/${name}`,
      findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code),
    ]),
  );

const written = (name: string): string => readFileSync(new URL(`streams/${name}`, import.meta.url), 'utf8');

/** A Service and its Deployment. */
const web = written('web.yaml');
/** Output of helm: a comment before each document, empty documents between, and documents without pods. */
const helmTemplate = written('helm-template.txt');

describe('standard input', () => {
  it('has the file name <stdin> and its lines, in text and JSON', () => {
    const [one] = checked(web).checks;
    expect(one).toMatchObject({ name: 'web', file: '<stdin>', line: 6 });
    expect(one?.findings[0]).toMatchObject({ code: 'drain-race', file: '<stdin>', line: 17 });
    expect(piped(web, 'check', '-f', '-').stdout).toMatch(/\(<stdin>:17\)/);
  });

  it('is fixed with its comments kept', () => {
    const { code, stdout } = piped(web, 'fix', '-f', '-', '-o', 'yaml');
    expect(code).toBe(0);
    expect(stdout).toMatch(/- name: app # the server\n[\s\S]*preStop:\n/);
    expect(stdout).toMatch(/^apiVersion: v1\nkind: Service\n/);
  });

  it('has the line of an error', () => {
    const { code, stdout } = piped(`${web}---\nkind: [\n`, 'check', '-f', '-');
    expect(code).toBe(1);
    expect(stdout).toMatch(/error {2}<stdin>:\d+: /);
  });
});

it('reads the output of helm template: the Service selects the Deployment, not the test pod', () => {
  expect(codesOf(checked(helmTemplate))).toEqual({
    'Deployment/web': ['drain-race'],
    'Pod/release-name-web-test-connection': [],
  });
});

it.skipIf(!hasKubectl)('reads the output of kubectl kustomize, before and after the component that fix prints', () => {
  const write = (name: string, text: string): void => writeFileSync(join(scratch, name), text);
  write('web.yaml', web);
  const kustomization = 'resources: [web.yaml]\nnamePrefix: shop-\nnamespace: shop\n';
  write('kustomization.yaml', kustomization);
  const built = execFileSync('kubectl', ['kustomize', scratch], { encoding: 'utf8' });
  expect(codesOf(checked(built))).toEqual({ 'Deployment/shop-web': ['drain-race'] });

  const component = piped(web, 'fix', '-f', '-', '-o', 'kustomize').stdout;
  const folder = mkdtempSync(join(scratch, 'fix-'));
  writeFileSync(join(folder, 'kustomization.yaml'), component);
  write('kustomization.yaml', `${kustomization}components: [${folder.slice(scratch.length + 1)}]\n`);
  const fixed = execFileSync('kubectl', ['kustomize', scratch], { encoding: 'utf8' });
  expect(codesOf(checked(fixed))).toEqual({ 'Deployment/shop-web': [] });
});
