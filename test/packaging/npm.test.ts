/** The tarball of `npm pack`, installed into an empty folder, is the whole program. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../helpers/built.ts';

const run = promisify(execFile);

/** Other versions of Node to test, such as PODEXIT_NODES=22,24. npx downloads them. */
const others = (process.env['PODEXIT_NODES'] ?? '').split(',').filter((one) => one !== '');

describe('the packed tarball', () => {
  let files: string[];
  let size: number;
  let installed: string;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'podexit-pack-'));
    // dist/ exists already, and other tests may use it: --ignore-scripts does not rebuild it.
    const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const { stdout } = await run('npm', words, { cwd: root, maxBuffer: 1 << 26 });
    const [packed] = JSON.parse(stdout) as [{ filename: string; size: number; files: { path: string }[] }];
    size = packed.size;
    files = packed.files.map(({ path }) => path);
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const tarball = join(folder, packed.filename);
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder });
    installed = join(folder, 'node_modules/kubectl-podexit');
  });

  it('contains the bundle, both commands, the schemas and the licences, but no sources or tests', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        ...['LICENSE', 'package.json', 'bin/kubectl-podexit', 'bin/kubectl_complete-podexit', 'bin/package.json'],
        ...['dist/podexit.cjs', 'dist/THIRD-PARTY-LICENSES', 'dist/scenarios/graceful-exit.ndjson.gz'],
        ...['schema/exit-report.schema.json', 'schema/error.schema.json', 'schema/ndjson.schema.json'],
      ]),
    );
    expect(files.filter((file) => /^(src|test|scripts|node_modules|\.)/.test(file))).toEqual([]);
  });

  it('has at most a megabyte, and no files for one machine only', () => {
    expect(size).toBeLessThanOrEqual(1_000_000);
    expect(files.filter((file) => /\.(?:v8|node|map)$|quickjs|pac-/.test(file))).toEqual([]);
  });

  it('needs no other package at run time', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('optionalDependencies');
    expect(existsSync(join(folder, 'node_modules/commander'))).toBe(false);
  });

  it('installs both commands as executable files', () => {
    for (const name of ['kubectl-podexit', 'kubectl_complete-podexit'])
      expect(statSync(join(folder, 'node_modules/.bin', name)).mode & 0o111).not.toBe(0);
  });

  it(`runs the demo on this Node (${process.version})`, async () => {
    const words = [join(folder, 'node_modules/.bin/kubectl-podexit'), 'demo', 'exit-143', '-o', 'json'];
    const { stdout } = await run(process.execPath, words, { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'ExitReport', verdict: { outcome: 'graceful' } });
  });

  it('completes through kubectl_complete-podexit', async () => {
    const words = [join(folder, 'node_modules/.bin/kubectl_complete-podexit'), '--pick='];
    const { stdout } = await run(process.execPath, words, { cwd: folder });
    expect(stdout).toBe('--pick=oldest\n--pick=newest\n--pick=random\n--pick=not-ready\n:4\n');
  });

  it.for(['22', '24'])(
    'runs the demo on Node %s, and reuses its code cache',
    { timeout: 300_000 },
    async (version, { skip }) => {
      if (!others.includes(version)) skip(`set PODEXIT_NODES=${version} to fetch and try that Node`);
      const script = join(folder, 'node_modules/.bin/kubectl-podexit');
      const words = ['-y', '-p', `node@${version}`, 'node', script, 'demo', 'exit-143', '-o', 'name'];
      const caches = join(folder, `caches-${version}`);
      const kept = () =>
        readdirSync(join(caches, 'kubectl-podexit')).map((name) => join(caches, 'kubectl-podexit', name));
      const demo = () => run('npx', words, { cwd: folder, env: { ...process.env, XDG_CACHE_HOME: caches } });
      expect((await demo()).stdout).toBe('pod/api-0\n');
      const [before = ''] = kept();
      const { ino } = statSync(before);
      // An unused cache file would be replaced at the end of the run.
      expect((await demo()).stdout).toBe('pod/api-0\n');
      expect(kept()).toEqual([before]);
      expect(statSync(before).ino).toBe(ino);
    },
  );
});
