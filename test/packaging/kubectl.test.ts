/** The real kubectl finds the plugin on the PATH, runs it, and completes with it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bin, root } from '../helpers/built.ts';
import { hasKubectl } from '../helpers/machines-kubectl.ts';
import { serving } from '../helpers/serving.ts';
import type { Serving } from '../helpers/serving.ts';

describe.skipIf(!hasKubectl).concurrent('kubectl podexit (skipped without a kubectl on the PATH)', () => {
  let path: string;

  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), 'podexit-path-'));
    symlinkSync(bin, join(folder, 'kubectl-podexit'));
    symlinkSync(join(root, 'bin/kubectl_complete-podexit'), join(folder, 'kubectl_complete-podexit'));
    path = [folder, process.env['PATH']].join(delimiter);
  });

  /** Runs kubectl without the variable `_`, which only a shell sets. */
  function kubectl(
    words: readonly string[],
    kubeconfig = '',
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const { _: _shells, ...env } = process.env;
    return new Promise((resolve) =>
      execFile(
        'kubectl',
        words,
        { env: { ...env, PATH: path, KUBECONFIG: kubeconfig, NO_COLOR: '1' }, timeout: 120_000 },
        (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      ),
    );
  }

  const kubeconfigOf = ({ flags }: Serving): string => flags.at(-1) ?? '';

  it('is found as a plugin', async () => {
    expect((await kubectl(['plugin', 'list', '--name-only'])).stdout).toContain('kubectl-podexit');
    expect((await kubectl(['podexit', '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('deletes and traces in the namespace of the context, and passes its exit code through', () =>
    serving('exit-143', {}, async (one) => {
      const ran = await kubectl(['podexit', one.server.pod, '-o', 'json'], kubeconfigOf(one));
      expect(JSON.parse(ran.stdout)).toMatchObject({
        verdict: { outcome: 'graceful' },
        trigger: { kind: 'this-command' },
      });
      expect(ran.code).toBe(0);
      expect(one.server.deletesAccepted).toBe(1);
      const gated = await kubectl(['podexit', 'check', 'nope', '-o', 'json'], kubeconfigOf(one));
      expect(gated.code).toBe(1);
    }));

  it('passes exit code 2 through for an exit that was not graceful', () =>
    serving('multi-container', {}, async (one) => {
      expect((await kubectl(['podexit', one.server.pod, '-o', 'name'], kubeconfigOf(one))).code).toBe(2);
    }));

  it('completes names of pods, flags and values through kubectl __complete', () =>
    serving('graceful-exit', {}, async (one) => {
      const completed = async (...words: string[]) =>
        (await kubectl(['__complete', 'podexit', ...words], kubeconfigOf(one))).stdout.trimEnd().split('\n');
      expect(await completed('checkout-')).toEqual([
        'checkout-754699c75f-5qlrp\tof ReplicaSet checkout-754699c75f',
        'checkout-754699c75f-dqc45\tof ReplicaSet checkout-754699c75f',
        ':4',
      ]);
      expect(await completed('deploy/')).toEqual(['deploy/checkout', ':4']);
      expect(await completed('x', '--pick', '')).toEqual(['oldest', 'newest', 'random', 'not-ready', ':4']);
      expect(await completed('-n', 'gr')).toEqual([one.server.namespace, ':4']);
    }));
});
