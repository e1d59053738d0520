/** The program starts whatever state its compiled form is in, and keeps one where it has none that fits. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordingFile } from '../helpers/recordings.ts';
import { root } from '../helpers/built.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const nodeHasItsOwn = major > 22 || (major === 22 && minor >= 8);

let folder: string;
let caches: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  caches = join(folder, 'caches');
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true });
});

const shipped = (): string => join(folder, 'dist/podexit.v8');
const kept = (): string[] => (existsSync(caches) ? readdirSync(join(caches, 'kubectl-podexit')) : []);

async function replay(format = 'name'): Promise<string> {
  const words = [join(folder, 'bin/kubectl-podexit'), 'replay', recordingFile('exit-143'), '--no-config', '-o', format];
  const env = { PATH: process.env['PATH'], XDG_CACHE_HOME: caches };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { env });
  expect(stderr).toBe('');
  return stdout;
}

describe.skipIf(nodeHasItsOwn)('before Node has a compile cache of its own', () => {
  it('the cache that was built with the program fits it', async () => {
    const file = join(folder, 'dist/podexit.cjs');
    // As CommonJS modules are wrapped.
    const source = `(function (exports, require, module, __filename, __dirname) { ${readFileSync(file, 'utf8')}\n});`;
    const script = new vm.Script(source, { filename: file, cachedData: readFileSync(shipped()) });
    expect(script.cachedDataRejected).toBe(false);
    expect(await replay()).toBe('pod/api-0\n');
    expect(kept()).toEqual([]);
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
