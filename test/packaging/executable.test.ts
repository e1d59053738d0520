/** The single executable for this machine: built, unpacked elsewhere, and run without Node. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { archiveOf, hostPlatform } from '../../scripts/release/platforms.ts';
import { root } from '../helpers/built.ts';
import { stepOf } from './helpers/workflow.ts';

const run = promisify(execFile);

describe('release build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-release-'));
  const unpacked = mkdtempSync(join(tmpdir(), 'podexit-unpacked-'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const archive = archiveOf(hostPlatform(process.platform, process.arch), version);

  beforeAll(async () => {
    await run(process.execPath, [join(root, 'node_modules/tsx/dist/cli.mjs'), 'scripts/release.ts', 'build', folder], {
      cwd: root,
      // A large archive is as good here, and is made in a third of the time.
      env: { ...process.env, GZIP: '-1' },
    });
    await run('tar', ['-xf', join(folder, archive), '-C', unpacked]);
  });

  it('writes the archive with a checksum that sha256sum reads', () => {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, archive)))
      .digest('hex');
    expect(readFileSync(join(folder, `${archive}.sha256`), 'utf8')).toBe(`${sum}  ${archive}\n`);
  });

  it('contains LICENSE and the licences of its contents, as Krew requires', () => {
    expect(readFileSync(join(unpacked, 'LICENSE'), 'utf8')).toContain('Apache License');
    expect(readFileSync(join(unpacked, 'THIRD-PARTY-LICENSES'), 'utf8')).toMatch(/^commander \d/m);
    expect(readFileSync(join(unpacked, 'LICENSE.node'), 'utf8')).toMatch(/^Node\.js is licensed for use as follows/);
  });

  it('contains no path of the machine that built it', () => {
    expect(readFileSync(join(unpacked, 'kubectl-podexit')).includes(folder)).toBe(false);
  });

  it('passes the trial step of the release workflow', async () => {
    const step = stepOf('release', 'executables', 'Try it as it will be unpacked');
    const cwd = mkdtempSync(join(tmpdir(), 'podexit-try-'));
    symlinkSync(folder, join(cwd, 'release'));
    // The flags of GitHub's `shell: bash`.
    const words = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step];
    const { stdout } = await run('bash', words, { cwd, env: { PATH: process.env['PATH'], RUNNER_OS: 'Linux' } });
    expect(stdout).toBe('pod/api-0\n');
  });

  it('runs through a symlink, as Krew installs it, without Node on the PATH', async () => {
    const link = join(folder, 'kubectl-podexit');
    symlinkSync(join(unpacked, 'kubectl-podexit'), link);
    const nowhere = { env: { PATH: folder, HOME: folder }, cwd: folder };
    expect((await run(link, ['--version'], nowhere)).stdout).toBe(`${version}\n`);
    const { stdout } = await run(link, ['demo', 'exit-143', '-o', 'json'], nowhere);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: { outcome: 'graceful' } });
  });

  it('removes its work folder', () => expect(existsSync(join(folder, 'work'))).toBe(false));
});
