/**
 * `check --inspect` against the cluster of KUBECONFIG: a shell with a trap and one without, a program with handlers,
 * one that ignores the signal, and an image without cat.
 *
 *     PODEXIT_E2E=1 npx vitest run test/e2e/inspect.test.ts
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckedObject, CheckReport } from '../../src/advice/check-report.ts';
import { podexit } from '../helpers/built.ts';

const image = process.env['PODEXIT_E2E_IMAGE'] ?? 'busybox';
const pull = process.env['PODEXIT_E2E_PULL'] ?? 'IfNotPresent';
const namespace = `podexit-e2e-${randomBytes(4).toString('hex')}`;
const kubectl = (words: string[], input?: string): string =>
  execFileSync('kubectl', words, { encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'inherit'] });

describe.skipIf(process.env['PODEXIT_E2E'] !== '1')('check --inspect', () => {
  let one: CheckedObject | undefined;

  beforeAll(async () => {
    const text = readFileSync(new URL('./inspect/pods.yaml', import.meta.url), 'utf8');
    kubectl(['create', 'namespace', namespace]);
    kubectl(['apply', '-n', namespace, '-f', '-'], text.replaceAll('IMAGE', image).replaceAll('PULL', pull));
    kubectl(['wait', '-n', namespace, '--for=condition=Ready', 'pod/inspected', '--timeout=120s']);
    const KUBECONFIG = process.env['KUBECONFIG'] ?? '';
    const words = ['check', 'inspected', '-n', namespace, '--inspect', '-o', 'json'];
    const { code, stdout, stderr } = await podexit(words, { KUBECONFIG });
    expect(code).toBe(0);
    expect(stderr).toMatch(/--inspect runs cat/);
    one = (JSON.parse(stdout) as CheckReport).checks[0];
  }, 180_000);
  afterAll(() => kubectl(['delete', 'namespace', namespace, '--wait=false']));

  const findingsOf = (container: string): string[] =>
    (one?.findings ?? [])
      .filter((finding) => finding.container === container && finding.severity !== 'info')
      .map(({ code }) => code);
  const because = (container: string): string | undefined =>
    one?.cannotTell.find((open) => open.container === container)?.because;

  it.each([
    ['shell', ['shell-as-pid-1']],
    ['ignoring', ['no-signal-handler']],
    ['plain', ['no-signal-handler']],
    ['shell-with-trap', []],
    ['handler', []],
  ])('%s', (container, codes) => {
    expect(findingsOf(container)).toEqual(codes);
    if (codes.length === 0) expect(because(container)).toMatch(/a signal handler \(read from \/proc\/1\/status\)/);
  });

  it('says that it cannot tell without cat', () => {
    expect(because('without-cat')).toBe('the container has no cat (a distroless image)');
  });
});
