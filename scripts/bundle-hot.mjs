// dist/podexit.cjs: all that a trace needs from start to end in one file, since each module of its own costs start-up
// time and since one script can be kept compiled (bin/kubectl-podexit). What only some runs need is taken out of it and
// loaded on demand from dist/cold/, whose entries this returns.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { build } from 'esbuild';
import { asOneScript } from './bundle-options.mjs';

/** Pure, or a world of their own (demo): they share no state and no classes with the rest but PodexitError. */
const cold = [
  /render\/(html|markdown|junit|jsonpath|wide|yaml|explain|rollout)\.ts$/,
  /verdict\/explain\/topics\.ts$/,
  /run\/github-actions\.ts$/,
  /demo\/scenarios\.ts$/,
  /export\/export-trace\.ts$/,
  /cli\/demo\.ts$/,
  /auth-provider\.ts$/,
  /http\/proxy-agent\.ts$/,
];

/** Builds it, and returns its metafile with the cold modules: name of the entry in dist/cold/ → source file. */
export async function bundleHot(root, outdir) {
  const entries = {};
  const outfile = `${outdir}/podexit.cjs`;
  const { metafile } = await build({
    ...asOneScript,
    absWorkingDir: root,
    outfile,
    plugins: [
      { name: 'cold', setup: (building) => building.onResolve({ filter: /^\./ }, (found) => outOfIt(found, entries)) },
      { name: 'late', setup: lateChildProcess },
    ],
  });
  await wrap(outfile);
  return { metafile, entries };
}

function outOfIt({ kind, path, resolveDir }, entries) {
  const file = resolve(resolveDir, path);
  const slashed = file.replaceAll('\\', '/');
  if (kind !== 'dynamic-import' || !cold.some((pattern) => pattern.test(slashed))) return undefined;
  const name = basename(file, '.ts');
  if (entries[name] !== undefined && entries[name] !== file) throw new Error(`two cold modules are named ${name}`);
  entries[name] = file;
  return { path: `./cold/${name}.js`, external: true };
}

/** Commander loads Node's child_process for commands that are programs of their own, of which there are none here. */
function lateChildProcess(building) {
  const filter = /^(node:)?child_process$/;
  building.onResolve({ filter }, ({ importer }) =>
    /[\\/]commander[\\/]/.test(importer) ? { path: 'child_process', namespace: 'late' } : undefined,
  );
  building.onLoad({ filter, namespace: 'late' }, () => ({
    contents: "exports.spawn = (...words) => require('node:child_process').spawn(...words);",
  }));
}

/**
 * The first line names the content: V8 itself compares no more than the length of a source with its cache. The program
 * becomes a function of how to require and import, since a script that is kept compiled has neither by itself.
 */
async function wrap(file) {
  const code = await readFile(file, 'utf8');
  const hash = createHash('sha256').update(code).digest('hex').slice(0, 16);
  const importing = code.replace(/\bimport\((?="(?:\.\/cold\/|node:))/g, '__import(');
  if (/\bimport\(/.test(importing)) throw new Error('dist/podexit.cjs imports something that is neither cold nor Node');
  // Read as it is, and half as large in memory: bin/load.js reads it as latin1.
  const strange = /.{0,40}[\u0080-\uffff]/.exec(importing);
  if (strange)
    throw new Error(`dist/podexit.cjs is not ASCII: ${strange[0]} (write a character of a RegExp as \\uNNNN)`);
  await writeFile(file, `//${hash}\n((require,__import)=>{${importing}\n})\n`);
}
