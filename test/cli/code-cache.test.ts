/** The program starts whatever state its compiled form is in, and keeps one where it has none that fits. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordingFile } from '../helpers/recordings.ts';
import { root } from '../helpers/built.ts';

let folder: string;
let caches: string;

beforeEach(() => {
  options = undefined;
  folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  caches = join(folder, 'caches');
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true });
});

const shipped = (): string => join(folder, 'dist/podexit.v8');
const kept = (): string[] => (existsSync(caches) ? readdirSync(join(caches, 'kubectl-podexit')) : []);

/** By a V8 with the flags of a start, and one that has not compiled the program yet: what it has, it takes any cache for. */
function takes(cache: string): boolean {
  const tried = `
    const { readFileSync } = require('node:fs');
    const [file, cache] = process.argv.slice(1);
    const source = readFileSync(file, 'latin1');
    const script = new (require('node:vm').Script)(source, { filename: 'podexit.cjs', cachedData: readFileSync(cache) });
    console.log(script.cachedDataRejected === false);`;
  return JSON.parse(
    execFileSync(process.execPath, ['-e', tried, join(folder, 'dist/podexit.cjs'), cache], { env: {} }).toString(),
  ) as boolean;
}

let options: string | undefined;

async function podexit(...words: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], XDG_CACHE_HOME: caches, NODE_OPTIONS: options };
  const all = [join(folder, 'bin/kubectl-podexit'), ...words, '--no-config'];
  return promisify(execFile)(process.execPath, all, { env });
}

async function replay(format = 'name'): Promise<string> {
  const { stdout, stderr } = await podexit('replay', recordingFile('exit-143'), '-o', format);
  expect(stderr).toBe('');
  return stdout;
}

describe('the compiled form of the program', () => {
  it('the cache that was built with the program fits it', async () => {
    expect(takes(shipped())).toBe(true);
    expect(await replay()).toBe('pod/api-0\n');
    expect(kept()).toEqual([]);
  });

  it('tells nothing of the machine that built it', () => {
    const cache = readFileSync(shipped(), 'latin1');
    expect(cache).toContain('podexit.cjs');
    // A build writes into a folder beside dist/, which is renamed when it is whole.
    expect(cache).not.toMatch(/[\w.-]*dist\.\d+/);
    expect(cache).not.toContain(root);
  });

  it('is named in a stack trace without the folder that it lies in', async () => {
    const broken = readFileSync(join(folder, 'dist/podexit.cjs'), 'utf8');
    writeFileSync(join(folder, 'dist/podexit.cjs'), broken.replace(/=>\{/, "=>{throw new Error('on purpose');"));
    const { stderr } = await podexit('replay', 'x').catch((error: unknown) => error as { stderr: string });
    expect(stderr).toMatch(/Error: on purpose\n\s+at .*podexit\.cjs:2:/);
    expect(stderr).not.toContain(join(folder, 'dist'));
  });

  it.each([
    ['missing', () => rmSync(shipped())],
    ['garbage', () => writeFileSync(shipped(), 'x'.repeat(5000))],
    ['cut', () => writeFileSync(shipped(), readFileSync(shipped()).subarray(0, 2000))],
  ])('where it is %s, a run keeps one of its own, and the next one takes that', async (_state, spoil) => {
    spoil();
    expect(await replay()).toBe('pod/api-0\n');
    expect(kept()).toEqual([expect.stringMatching(/^v\d+\.\d+\.\d+-\w+-replay-[0-9a-f]{16}\.v8$/)]);
    const before = readFileSync(join(caches, 'kubectl-podexit', kept()[0] ?? ''));
    expect(await replay()).toBe('pod/api-0\n');
    expect(readFileSync(join(caches, 'kubectl-podexit', kept()[0] ?? '')).equals(before)).toBe(true);
  });

  it('a trace, which changes the flags of V8, keeps one that the next start takes', async () => {
    rmSync(shipped());
    const { stdout, stderr } = await podexit('demo', 'exit-143', '-o', 'name', '--no-github');
    expect(stdout).toBe('pod/api-0\n');
    expect(stderr).not.toMatch(/unrecognized flag/);
    expect(kept()).toEqual([expect.stringMatching(/-demo-/)]);
    expect(takes(join(caches, 'kubectl-podexit', kept()[0] ?? ''))).toBe(true);
  });

  it('is kept apart for a Node with other flags', async () => {
    options = '--max-old-space-size=700';
    await replay();
    const [others = ''] = kept();
    expect(others).toMatch(/-replay-[0-9a-f]+-[0-9a-f]{16}\.v8$/);
    expect(takes(join(caches, 'kubectl-podexit', others))).toBe(false);
    options = undefined;
    rmSync(shipped());
    await replay();
    const own = kept().filter((name) => name !== others);
    expect(own).toHaveLength(1);
    expect(takes(join(caches, 'kubectl-podexit', own[0] ?? ''))).toBe(true);
  });

  it('is made anew where the one that was kept is garbage', async () => {
    rmSync(shipped());
    await replay();
    const own = join(caches, 'kubectl-podexit', kept()[0] ?? '');
    writeFileSync(own, 'x'.repeat(5000));
    await replay();
    expect(takes(own)).toBe(true);
  });

  it('starts where no cache can be kept', async () => {
    rmSync(shipped());
    writeFileSync(caches, 'a file, not a folder');
    expect(await replay()).toBe('pod/api-0\n');
  });
});

it('loads what only some runs need from beside the program', async () => {
  expect(await replay('yaml')).toMatch(/^apiVersion: podexit\/v1\n/);
  expect(await replay('junit')).toMatch(/^<\?xml/);
});
