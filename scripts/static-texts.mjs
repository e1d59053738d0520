// Stores the program's constant output (help, completion scripts) as text, so that it needs no bundle to be read. The
// program itself prints it here, so the texts cannot drift from it. It saves loading the program.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const load = fileURLToPath(new URL('../bin/load.js', import.meta.url));
const shells = ['bash', 'zsh', 'fish', 'powershell'];

/** Writes `static-texts/` below `folder`, which holds a bundle. bin/kubectl-podexit looks for these names. */
export async function writeStaticTexts(folder) {
  const env = { PATH: process.env.PATH, NO_COLOR: '1', NODE_DISABLE_COMPILE_CACHE: '1' };
  const start = `process.argv.splice(1, 0,'podexit');require(${JSON.stringify(load)}).load(${JSON.stringify(`${folder}/podexit.cjs`)})`;
  const print = (words, more = {}) =>
    promisify(execFile)(process.execPath, ['-e', start, '--', ...words], { env: { ...env, ...more } });
  const texts = {
    'help.kubectl-podexit': print(['--help']),
    'help.kubectl podexit': print(['--help'], { KUBECTL_PATH: 'kubectl' }),
    ...Object.fromEntries(shells.map((shell) => [`completion.${shell}`, print(['completion', shell])])),
  };
  await mkdir(`${folder}/static-texts`);
  for (const [name, text] of Object.entries(texts))
    await writeFile(`${folder}/static-texts/${name}.txt`, (await text).stdout);
}
