// dist/podexit.cjs and dist/parts/: esbuild splits the program at its dynamic imports. The start is everything that the
// entry imports statically. It is one file, so that every command reads one file and V8's code cache keeps one script
// (bin/load.js). Modules imported with `import()` are in dist/parts and are read when needed: a deletion reads a seventh
// of the program before its DELETE. test/packaging/start-savings.test.ts holds each of these savings.
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** Options of all bundles of the program, so that all run the same code in the same form. */
const bundled = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  /** Short names save a quarter of the program, and 13 of 255 ms of a first start. */
  minify: true,
  metafile: true,
  legalComments: 'none',
  loader: { '.md': 'text' },
};

/** The whole program as one CommonJS script, for single executables. */
export const asOneScript = { ...bundled, entryPoints: ['src/cli/start.ts'], format: 'cjs' };

/** Writes these files below `outdir`, and returns esbuild's metafile. */
export async function bundle(root, outdir) {
  const { metafile, outputFiles } = await split(root);
  const inStart = startOf(metafile);
  const asFunction = functionsFrom(metafile, new Map(outputFiles.map(({ path, text }) => [basename(path), text])));
  const start = await asFunction(inStart, "import './podexit.js';");
  const all = createHash('sha256').update(start);
  await mkdir(join(outdir, 'parts'), { recursive: true });
  for (const { path } of outputFiles) {
    const name = basename(path);
    if (inStart.includes(name)) continue;
    const code = await asFunction([name]);
    all.update(code);
    await writeFile(join(outdir, 'parts', name), code);
  }
  // A hash of the whole program, which names its code caches (bin/cache.js).
  const hash = all.digest('hex').slice(0, 16);
  await writeFile(join(outdir, 'podexit.cjs'), `//${hash}\n${start}`);
  return metafile;
}

/** Minified bytes of the start, in total and by folder or package, the largest first; and its source files. */
export async function startSize(root) {
  const { metafile } = await split(root);
  const sizes = new Map();
  const files = [];
  let total = 0;
  for (const name of startOf(metafile)) {
    const { bytes, inputs } = outputOf(metafile, name);
    total += bytes;
    files.push(...Object.keys(inputs));
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const place =
        /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules)/.exec(file)?.[1] ?? file.split('/').slice(0, 2).join('/');
      sizes.set(place, (sizes.get(place) ?? 0) + bytesInOutput);
    }
  }
  return { total, places: [...sizes].sort(([, one], [, other]) => other - one), inputs: files };
}

function split(root) {
  return build({
    ...bundled,
    absWorkingDir: root,
    entryPoints: { podexit: 'src/cli/start.ts', 'string-width': 'string-width' },
    outdir: 'dist',
    write: false,
    splitting: true,
    format: 'esm',
    chunkNames: '[name]-[hash]',
    define: { 'import.meta.url': '__url' },
    plugins: [{ name: 'late', setup: lateStringWidth }],
  });
}

/**
 * Converts files of the program to one function, which bin/load.js calls. The files call each other directly, and
 * require others by name. What they export is read when it is used: a package may set it later.
 */
function functionsFrom(metafile, texts) {
  const exportsOf = (name, file) => {
    const { exports } = outputOf(metafile, name);
    /** A name that no other file of the same function has. */
    const local = (index) => `e${file}_${index}`;
    const imported = exports.map((one, index) => `${one} as ${local(index)}`);
    const values = exports.map((one, index) => `get ${one}() { return ${local(index)}; }`);
    return `import { ${imported.join()} } from './${name}';
      keep('${name}', () => ({ __esModule: true, ${values.join()} }));`;
  };
  return async (names, afterwards = '') => {
    const exported = names.map(exportsOf);
    const { outputFiles } = await build({
      ...bundled,
      ...asCalled,
      stdin: { contents: "import 'exports';" + afterwards, resolveDir: '/' },
      write: false,
      plugins: [{ name: 'texts', setup: (building) => readFrom(building, names, texts, exported.join('\n')) }],
    });
    return `(function(require,__url,keep){${outputFiles[0].text}\n})`;
  };
}

function readFrom({ onResolve, onLoad }, names, texts, exported) {
  onResolve({ filter: /./ }, ({ path, kind }) => {
    if (kind === 'import-statement' && names.includes(basename(path)))
      return { path: basename(path), namespace: 'texts' };
    return path === 'exports' ? { path, namespace: 'texts' } : { path, external: true };
  });
  onLoad({ filter: /./, namespace: 'texts' }, ({ path }) => ({ contents: texts.get(path) ?? exported }));
}

/** import() becomes require, also of modules in other parts. */
const asCalled = {
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  minify: true,
  supported: { 'dynamic-import': false },
};

const outputOf = ({ outputs }, name) => Object.entries(outputs).find(([path]) => basename(path) === name)[1];

/** The entry and all that it imports statically, by base name. */
function startOf(metafile) {
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const { path, kind, external } of outputOf(metafile, name).imports)
      if (kind === 'import-statement' && !external) add(basename(path));
  };
  add('podexit.js');
  return [...found];
}

/** Loads string-width only when a text needs it (src/output/prose.ts). */
function lateStringWidth(building) {
  const part = './string-width.js';
  building.onResolve({ filter: /^string-width$/ }, ({ importer }) =>
    /[\\/]prose\.ts$/.test(importer) ? { path: 'string-width', namespace: 'late' } : undefined,
  );
  building.onResolve({ filter: /^\.\/string-width\.js$/, namespace: 'late' }, ({ path }) => ({ path, external: true }));
  building.onLoad({ filter: /^string-width$/, namespace: 'late' }, () => ({
    contents: `export default (text) => require('${part}').default(text);`,
  }));
}
