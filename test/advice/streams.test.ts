/** Manifests from standard input, as `kubectl kustomize` and `helm template` print them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app # the server
          image: example/web
          ports: [{containerPort: 80}]
          readinessProbe: {tcpSocket: {port: 80}}
`;
const service = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;

/** Output of helm: a comment before each document, empty documents between, and documents without pods. */
const helmTemplate = `---
# Source: web/templates/serviceaccount.yaml
apiVersion: v1
kind: ServiceAccount
metadata:
  name: release-name-web
automountServiceAccountToken: true
---
# Source: web/templates/service.yaml
${service}---
# Source: web/templates/hpa.yaml


---
# Source: web/templates/deployment.yaml
${deployment}---
# Source: web/templates/tests/test-connection.yaml
apiVersion: v1
kind: Pod
metadata:
  name: "release-name-web-test-connection"
  annotations:
    "helm.sh/hook": test
spec:
  containers:
    - name: wget
      image: busybox
      command: ['wget']
      args: ['web:80']
  restartPolicy: Never
`;

describe('standard input', () => {
  it('has the file name <stdin> and its lines, in text and JSON', () => {
    const [one] = checked(`${service}---\n${deployment}`).checks;
    expect(one).toMatchObject({ name: 'web', file: '<stdin>', line: 6 });
    expect(one?.findings[0]).toMatchObject({ code: 'drain-race', file: '<stdin>', line: 17 });
    expect(piped(`${service}---\n${deployment}`, 'check', '-f', '-').stdout).toMatch(/\(<stdin>:17\)/);
  });

  it('is fixed with its comments kept', () => {
    const { code, stdout } = piped(`${service}---\n${deployment}`, 'fix', '-f', '-', '-o', 'yaml');
    expect(code).toBe(0);
    expect(stdout).toMatch(/- name: app # the server\n[\s\S]*preStop:\n/);
    expect(stdout).toMatch(/^apiVersion: v1\nkind: Service\n/);
  });

  it('has the line of an error', () => {
    const { code, stdout } = piped(`${service}---\nkind: [\n`, 'check', '-f', '-');
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
  write('web.yaml', `${service}---\n${deployment}`);
  const kustomization = 'resources: [web.yaml]\nnamePrefix: shop-\nnamespace: shop\n';
  write('kustomization.yaml', kustomization);
  const built = execFileSync('kubectl', ['kustomize', scratch], { encoding: 'utf8' });
  expect(codesOf(checked(built))).toEqual({ 'Deployment/shop-web': ['drain-race'] });

  const component = piped(`${service}---\n${deployment}`, 'fix', '-f', '-', '-o', 'kustomize').stdout;
  const folder = mkdtempSync(join(scratch, 'fix-'));
  writeFileSync(join(folder, 'kustomization.yaml'), component);
  write('kustomization.yaml', `${kustomization}components: [${folder.slice(scratch.length + 1)}]\n`);
  const fixed = execFileSync('kubectl', ['kustomize', scratch], { encoding: 'utf8' });
  expect(codesOf(checked(fixed))).toEqual({ 'Deployment/shop-web': [] });
});
