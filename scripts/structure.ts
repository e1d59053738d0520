/**
 * Prints how large each folder of the source is, its longest chain of imports and its cycles.
 * `npm run structure [SRC]`: the same for the src of another checkout, to compare.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cyclesOf, longestChain } from './structure/graph.ts';
import { importsOf, sourceFiles, type SourceFile } from './structure/imports.ts';
import { folders } from './structure/folders.ts';

const files = sourceFiles(resolve(process.argv[2] ?? fileURLToPath(new URL('../src', import.meta.url))));
const imports = files.flatMap(importsOf);
const atRunTime = imports.filter(({ kind }) => kind !== 'type');

function row(name: string, own: SourceFile[], target: number): string {
  const paths = own.map(({ path }) => path);
  const lines = own.reduce((sum, file) => sum + file.lines, 0);
  const small = own.filter((file) => file.lines < 40).length;
  const chain = longestChain(paths, atRunTime).length;
  const cycles = cyclesOf(paths, imports).length;
  return cells(name, [target, lines, paths.length, small, chain, cycles]);
}

function cells(name: string, values: (number | string)[]): string {
  return [name.padEnd(10), ...values.map((value) => String(value).padStart(8))].join('');
}

console.log(cells('folder', ['target', 'lines', 'files', '<40 l.', 'chain', 'cycles']));
for (const [name, { targetLines }] of Object.entries(folders))
  console.log(
    row(
      name,
      files.filter(({ path }) => path.startsWith(`${name}/`)),
      targetLines,
    ),
  );
const target = Object.values(folders).reduce((sum, { targetLines }) => sum + targetLines, 0);
console.log(row('src', files, target));

const paths = files.map(({ path }) => path);
console.log(`\nlongest chain at run time:\n  ${longestChain(paths, atRunTime).join('\n  ')}`);
for (const cycle of cyclesOf(paths, imports)) console.log(`\ncycle, types included:\n  ${cycle.join('\n  ')}`);
