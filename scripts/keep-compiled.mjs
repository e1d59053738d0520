// dist/podexit.v8: V8's code cache of dist/podexit.cjs after whole traces, so that the functions that a trace calls are
// in it. Only the Node that made it takes it (bin/load.js).
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const load = fileURLToPath(new URL('../bin/load.js', import.meta.url));

/** What is written at once, and for whoever reads along: what else they call is called by both. */
const formats = ['ndjson', 'lines'];

const trace = `
  const fs = require('node:fs');
  const vm = require('node:vm');
  const path = require('node:path');
  const { pathToFileURL } = require('node:url');
  const [folder, load, runs] = process.argv.splice(1);
  const file = path.join(folder, 'podexit.cjs');
  // V8 forgets the code of what is called once, and takes a cache only if it bears the flags of the start.
  const { setFlagsFromString } = require('node:v8');
  setFlagsFromString('--no-flush-bytecode');
  const { filename } = require(load);
  const script = new vm.Script(fs.readFileSync(file, 'latin1'), { filename });
  const start = script.runInThisContext();
  process.once('exit', () => {
    setFlagsFromString('--flush-bytecode');
    fs.writeFileSync(path.join(folder, 'podexit.v8'), script.createCachedData());
  });
  const built = async (name) => require(name);
  for (const words of JSON.parse(runs)) {
    process.argv.splice(1, Infinity, file, ...words);
    start(require, (name) => (name.startsWith('node:') ? built(name) : import(pathToFileURL(path.join(folder, name)))));
  }
`;

/** Traces a recorded exit once for each format. Without a cache (a machine that cannot listen) the program only starts slower. */
export async function keepCompiled(folder) {
  const kubeconfigs = await mkdtemp(join(tmpdir(), 'podexit-build-'));
  const clusters = await Promise.all(formats.map((format) => serve(folder, join(kubeconfigs, format))));
  try {
    const runs = clusters.map(({ words }, turn) => [...words, '-o', formats[turn], '--no-config', '--no-github']);
    await promisify(execFile)(process.execPath, ['-e', trace, folder, load, JSON.stringify(runs)]);
  } catch {
    // The program is whole without it.
  } finally {
    clusters.forEach(({ close }) => close());
    await rm(kubeconfigs, { recursive: true, force: true });
  }
}

/** The cluster of a demo in a process of its own: in one with the trace, the program would be loaded another way. */
async function serve(folder, kubeconfig) {
  const words = ['demo', 'graceful-exit', '--serve', '--write-kubeconfig', kubeconfig];
  const start = `require(${JSON.stringify(load)}).load(${JSON.stringify(join(folder, 'podexit.cjs'))})`;
  const child = spawn(process.execPath, ['-e', start, '--', folder, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (bytes) => (said += bytes));
  const exited = once(child, 'exit');
  while (!said.includes('Ctrl-C') && child.exitCode === null) await Promise.race([once(child.stderr, 'data'), exited]);
  const [, pod, namespace] = /kubectl podexit (\S+) -n (\S+)/.exec(said) ?? [];
  return { words: [pod ?? '', '-n', namespace ?? '', '--kubeconfig', kubeconfig], close: () => child.kill() };
}
