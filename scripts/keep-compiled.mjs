// dist/podexit.v8: V8's code cache of dist/podexit.cjs after a whole trace, so that the functions that a trace calls are
// in it. Only the Node that made it takes it (bin/load.js).
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const load = fileURLToPath(new URL('../bin/load.js', import.meta.url));

const trace = `
  const fs = require('node:fs');
  const vm = require('node:vm');
  const path = require('node:path');
  const { pathToFileURL } = require('node:url');
  const [folder, load] = process.argv.splice(1, 2);
  const file = path.join(folder, 'podexit.cjs');
  // V8 forgets the code of what is called once, and takes a cache only if it bears the flags of the start.
  const { setFlagsFromString } = require('node:v8');
  setFlagsFromString('--no-flush-bytecode');
  const { filename } = require(load);
  const script = new vm.Script(fs.readFileSync(file, 'latin1'), { filename });
  const start = script.runInThisContext();
  process.argv.splice(1, 0, file);
  process.once('exit', () => {
    setFlagsFromString('--flush-bytecode');
    fs.writeFileSync(path.join(folder, 'podexit.v8'), script.createCachedData());
  });
  const built = async (name) => require(name);
  start(require, (name) => (name.startsWith('node:') ? built(name) : import(pathToFileURL(path.join(folder, name)))));
`;

/** Traces the shortest demo. Without a cache (a demo that cannot listen) the program only starts slower. */
export async function keepCompiled(folder) {
  const words = ['demo', 'exit-143', '-o', 'lines', '--no-config', '--no-github'];
  await promisify(execFile)(process.execPath, ['-e', trace, folder, load, ...words]).catch(() => {});
}
