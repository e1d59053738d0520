/** V8's code cache is code: podexit stores it for this user only, and uses it only if no other user can write it. */
import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../helpers/built.ts';
import { recordingFile } from '../helpers/recordings.ts';

let folder: string;
let home: string;
let caches: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  home = join(folder, 'home');
  caches = join(home, 'kubectl-podexit');
  mkdirSync(home);
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true });
});

let afterFirstRun: string | undefined;

/** Brings the cache of a first run, which is made only once. */
async function afterOneRun(): Promise<void> {
  if (afterFirstRun !== undefined) return cpSync(afterFirstRun, caches, { recursive: true });
  await replay();
  afterFirstRun = mkdtempSync(join(tmpdir(), 'podexit-'));
  cpSync(caches, afterFirstRun, { recursive: true });
}

async function podexit(words: readonly string[], more: Record<string, string> = {}) {
  const env = { PATH: process.env['PATH'], XDG_CACHE_HOME: home, ...more };
  const all = [join(folder, 'bin/kubectl-podexit'), ...words, '--no-config'];
  return promisify(execFile)(process.execPath, all, { env });
}

async function replay(format = 'name', more: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await podexit(['replay', recordingFile('exit-143'), '-o', format], more);
  expect(stderr).toBe('');
  return stdout;
}

const kept = (): string[] => (existsSync(caches) ? readdirSync(caches) : []);
/** The cache file of the start. Each part that a run loads has its own file. */
const keptStarts = (): string[] => kept().filter((name) => name.endsWith('-podexit.cjs.v8'));
const file = (): string => join(caches, keptStarts()[0] ?? '');

/** Tells of each home whether the program reads its existing cache. One process for all: Node's flags (-e) have their own cache. */
const asked = `
  const { readFileSync } = require('node:fs');
  process.on('message', ({ folder, home }) => {
    process.env.XDG_CACHE_HOME = home;
    const { openCache } = require(folder + '/bin/cache.js');
    const source = readFileSync(folder + '/dist/podexit.cjs', 'latin1');
    const cachedData = openCache(source.slice(2, 18))?.read('podexit.cjs');
    const script = new (require('node:vm').Script)(source, { filename: 'podexit.cjs', cachedData });
    process.send(cachedData !== undefined && script.cachedDataRejected === false);
  });`;
let asker: ChildProcess | undefined;
afterAll(() => void asker?.kill());

async function isUsed(): Promise<boolean> {
  if (!asker) {
    const script = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'asked.cjs');
    writeFileSync(script, asked);
    asker = fork(script, ['replay'], { execArgv: [], env: { PATH: process.env['PATH'] } });
  }
  asker.send({ folder, home });
  const [answer] = (await once(asker, 'message')) as [boolean];
  return answer;
}

describe('the code cache', () => {
  it('is written by the first run for this user only, and used by the next', async () => {
    expect(await replay()).toBe('pod/api-0\n');
    const name = new RegExp(`^${process.platform}-${process.arch}-v[\\d.]+-replay-[0-9a-f]{16}-[\\w.-]+\\.v8$`);
    expect(kept().filter((one) => !name.test(one))).toEqual([]);
    expect(keptStarts()).toHaveLength(1);
    expect(kept().length).toBeGreaterThan(1);
    expect(statSync(caches).mode & 0o777).toBe(0o700);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(await isUsed()).toBe(true);
    const before = readFileSync(file());
    expect(await replay()).toBe('pod/api-0\n');
    expect(readFileSync(file()).equals(before)).toBe(true);
  });

  const givingAway: [string, (file: string) => void][] = [
    ['its folder belongs to another user', () => chownSync(caches, 12345, 12345)],
    ['it belongs to another user', (file) => chownSync(file, 12345, 12345)],
  ];

  it.each<[string, (file: string) => void]>([
    ['one of its bits has flipped', (file) => flip(file, 5000)],
    ['a bit of its hash has flipped', (file) => flip(file, 3)],
    ['it is that of another part of the program', (file) => cpSync(join(caches, kept()[0] ?? ''), file)],
    ['other users may write to its folder', () => chmodSync(caches, 0o707)],
    ['its group may write to its folder', () => chmodSync(caches, 0o770)],
    ['other users may write to the file', (file) => chmodSync(file, 0o606)],
    ['it is a link', (file) => (renameSync(file, join(folder, 'x')), symlinkSync(join(folder, 'x'), file))],
    // Only root can give files away.
    ...(process.getuid?.() === 0 ? givingAway : []),
  ])('is not used if %s, and is written again if its folder can be trusted', async (title, spoil) => {
    await afterOneRun();
    expect(await isUsed()).toBe(true);
    spoil(file());
    expect(await isUsed()).toBe(false);
    expect(await replay()).toBe('pod/api-0\n');
    expect(await isUsed()).toBe(!title.includes('folder'));
  });

  it('is not written into a folder that is a link', async () => {
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, caches);
    expect(await replay()).toBe('pod/api-0\n');
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it('replaces a planted link, without touching its target', async () => {
    await afterOneRun();
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'mine');
    const planted = file();
    rmSync(planted);
    symlinkSync(precious, planted);
    await replay();
    expect(readFileSync(precious, 'utf8')).toBe('mine');
  });

  it('is separate for each set of Node flags', async () => {
    await replay('name', { NODE_OPTIONS: '--max-old-space-size=700' });
    expect(await isUsed()).toBe(false);
    await replay();
    expect(keptStarts()).toHaveLength(2);
    expect(await isUsed()).toBe(true);
  });

  it.each([
    ['if the cache folder cannot be written', () => writeFileSync(caches, 'a file, not a folder'), {}],
    // As in another user's folder: stat fails with another error than "not found".
    ['if the cache folder cannot be read', () => (rmSync(home, { recursive: true }), symlinkSync(home, home)), {}],
    ['if NODE_DISABLE_COMPILE_CACHE is set', () => undefined, { NODE_DISABLE_COMPILE_CACHE: '1' }],
    ['without a home folder', () => undefined, { XDG_CACHE_HOME: '', HOME: '' }],
  ])('is optional: the program starts %s', async (_, prepare, env) => {
    prepare();
    expect(await replay('name', env)).toBe('pod/api-0\n');
    expect(existsSync(caches) && statSync(caches).isDirectory()).toBe(false);
  });
});

it('an error names the program file without its folder', async () => {
  const start = join(folder, 'dist/podexit.cjs');
  writeFileSync(
    start,
    readFileSync(start, 'utf8').replace(/^\(function\([^)]*\)\{/m, "$&throw new Error('on purpose');"),
  );
  const { stderr } = await podexit(['replay', 'x']).catch((error: unknown) => error as { stderr: string });
  expect(stderr).toMatch(/Error: on purpose\n\s+at .*podexit\.cjs:\d+:/);
});

it('runs load rarely used code from separate files', async () => {
  expect(await replay('yaml')).toMatch(/^apiVersion: podexit\/v1\n/);
  expect(await replay('junit')).toMatch(/^<\?xml/);
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
