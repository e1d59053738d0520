/**
 * `check --inspect` against the cluster of KUBECONFIG: a shell with a trap and one without, a program with handlers,
 * one that ignores the signal, and an image without cat.
 *
 *     PODEXIT_E2E=1 npx vitest run test/e2e/inspect.test.ts
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckedObject, CheckReport } from '../../src/advice/check-report.ts';
import { podexit } from '../helpers/built.ts';
import { environment, isWanted, kubectl, newNamespace, readManifest } from '../helpers/cluster.ts';

const namespace = newNamespace();

describe.runIf(isWanted)('check --inspect', () => {
  let one: CheckedObject | undefined;

  beforeAll(async () => {
    kubectl(['create', 'namespace', namespace]);
    kubectl(['apply', '-n', namespace, '-f', '-'], readManifest(new URL('./inspect/pods.yaml', import.meta.url)));
    kubectl(['wait', '-n', namespace, '--for=condition=Ready', 'pod/inspected', '--timeout=120s']);
    const words = ['check', 'inspected', '-n', namespace, '--inspect', '-o', 'json'];
    const { code, stdout, stderr } = await podexit(words, environment);
    expect(code).toBe(0);
    expect(stderr).toMatch(/--inspect runs cat/);
    one = (JSON.parse(stdout) as CheckReport).checks[0];
  }, 180_000);
  afterAll(() => void kubectl(['delete', 'namespace', namespace, '--wait=false']));

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
