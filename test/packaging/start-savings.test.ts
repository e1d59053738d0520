/**
 * What makes a start light, counted or compared with a start without it. A path that saves nothing any more fails here,
 * and can go.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { dump } from 'js-yaml';
import { afterAll, expect, it } from 'vitest';
import { bin, root } from '../helpers/built.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { hasOpenssl, selfSigned } from '../helpers/self-signed.ts';
import { serving } from '../helpers/serving.ts';

const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const env = { PATH: process.env['PATH'], XDG_CACHE_HOME: folder };

/** A script that runs the command, with these lines before it. */
function observer(name: string, lines: string): string {
  const file = join(folder, `${name}.cjs`);
  writeFileSync(file, `${lines}\nrequire(${JSON.stringify(bin)});`);
  return file;
}

interface Started {
  /** Files of dist/ that were read. */
  files: string[];
  /** Node's own modules at the first connection, and at the DELETE. */
  atConnection: string[];
  atDelete: string[];
}

/** Reads of the program and loaded modules of Node, printed at the end, or when the DELETE has arrived (SIGTERM). */
const startObserver = observer(
  'start',
  `const [fs, net, files] = [require('node:fs'), require('node:net'), []];
  const { readFileSync } = fs;
  fs.readFileSync = (file, ...rest) => (/[\\\\/]dist[\\\\/]/.test(file) && files.push(file), readFileSync(file, ...rest));
  const modules = () => process.moduleLoadList.map((name) => name.replace('NativeModule ', ''));
  const { connect } = net.Socket.prototype;
  let atConnection;
  net.Socket.prototype.connect = function (...words) {
    atConnection ??= modules();
    return connect.apply(this, words);
  };
  process.on('exit', () => fs.writeSync(1, '\\n' + JSON.stringify({ files, atConnection, atDelete: modules() })));
  process.on('SIGTERM', () => process.exit());`,
);

const startedOf = (printed: string): Started => JSON.parse(printed.split('\n').at(-1) ?? '') as Started;

const started = (tls: boolean): Promise<Started> =>
  serving('graceful-exit', tls ? { tls: { ...selfSigned(), http2: true }, token: 'test' } : {}, async ({ server }) => {
    const kubeconfig = join(folder, 'kubeconfig');
    // As kubectl writes it.
    writeFileSync(kubeconfig, dump(JSON.parse(server.kubeconfig())));
    const words = [startObserver, server.pod, '-n', server.namespace, '--kubeconfig', kubeconfig, '-o', 'name'];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env });
    const isDeleted = (): boolean => server.requests.some(({ method }) => method === 'DELETE');
    const stopping = setInterval(() => isDeleted() && child.kill(), 5);
    const printed = await text(child.stdout);
    clearInterval(stopping);
    return startedOf(printed);
  });

const plain = await started(false);

it('before its DELETE a deletion reads a sixth of the program at most, without parsers and widths it does not need', () => {
  const sizeOf = (file: string): number => statSync(file).size;
  const all = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(\.cjs|\.js)$/.test(name))
    .map((name) => join(root, 'dist', name));
  const [read, whole] = [plain.files, all].map((files) => files.map(sizeOf).reduce((sum, size) => sum + size, 0));
  expect((read ?? NaN) / (whole ?? NaN)).toBeLessThan(1 / 6);
  for (const part of ['js-yaml', 'yaml', 'string-width'])
    expect(plain.files.filter((file) => file.includes(`/${part}-`))).toEqual([]);
});

it.each(['--version', '--help', 'completion bash'])('%s reads nothing of the program', async (words) => {
  const { stdout } = await promisify(execFile)(process.execPath, [startObserver, ...words.split(' ')], { env });
  expect(startedOf(stdout).files.filter((file) => /js$/.test(file))).toEqual([]);
});

it('without TLS it loads none of the modules for TLS, HTTP/2 and questions', () => {
  const needless = ['tls', 'https', 'http2', 'readline', 'readline/promises'];
  expect(plain.atDelete.filter((name) => needless.includes(name))).toEqual([]);
});

it.skipIf(!hasOpenssl)('over TLS it loads their modules while the connection is made, and not before', async () => {
  const overTls = await started(true);
  const needed = ['tls', 'http2'];
  expect(overTls.atConnection.filter((name) => needed.includes(name))).toEqual([]);
  expect(overTls.atDelete.filter((name) => needed.includes(name)).sort()).toEqual(['http2', 'tls']);
});

const cpuObserver = observer(
  'cpu',
  `process.once('exit', () => {
    const { user, system } = process.cpuUsage();
    require('node:fs').writeSync(2, String((user + system) / 1000));
  });`,
);

async function cpuOfReplay(more: Record<string, string>): Promise<number> {
  const words = [cpuObserver, 'replay', recordingFile('exit-143'), '-o', 'name', '--no-config'];
  return Number((await promisify(execFile)(process.execPath, words, { env: { ...env, ...more } })).stderr);
}

it('the code cache saves a tenth of the CPU time of a run or more', async () => {
  await cpuOfReplay({});
  let [cached, compiled] = [Infinity, Infinity];
  // The least of each: a busy machine only adds to it.
  for (let turn = 0; turn < 9 && (turn < 2 || cached / compiled >= 0.9); turn += 1) {
    cached = Math.min(cached, await cpuOfReplay({}));
    compiled = Math.min(compiled, await cpuOfReplay({ NODE_DISABLE_COMPILE_CACHE: '1' }));
  }
  expect(cached / compiled).toBeLessThan(0.9);
});
