/** Rules of docs/architecture.md: allowed imports, the size of each folder, no cycles. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { cyclesOf, longestChain } from '../scripts/structure/graph.ts';
import { importsOf, sourceFiles, type Import } from '../scripts/structure/imports.ts';
import { folders, longestChainOfSource } from '../scripts/structure/folders.ts';

const source = fileURLToPath(new URL('../src/', import.meta.url));

/** What each folder may import: `type:X` or `lazy:X`, or all of X. */
const table = parse(readFileSync(new URL('imports.yaml', import.meta.url), 'utf8')) as Record<string, string[]>;

const files = sourceFiles(source);
const imports = files.flatMap(importsOf);
const folderImports = imports
  .map((one) => ({ ...one, folder: folderOf(one.file), target: folderOrPackage(one) }))
  .filter(({ folder, target }) => folder !== target);

function wordsFor({ kind, target }: Import): string[] {
  const forms = { type: [`type:${target}`, `lazy:${target}`], dynamic: [`lazy:${target}`], runtime: [] };
  return [target, ...forms[kind]];
}

it('imports only what the table allows', () => {
  const broken = folderImports.filter((one) => !wordsFor(one).some((word) => table[one.folder]?.includes(word)));
  expect(broken.map(({ file, kind, target }) => `${file} imports ${target} (${kind})`)).toEqual([]);
});

it('uses every word in the table', () => {
  const unused = Object.entries(table).flatMap(([folder, words]) =>
    words
      .filter((word) => !/^(type|lazy):/.test(word) && folderImports.some((one) => one.folder === folder))
      .filter((word) => !folderImports.some((one) => one.folder === folder && wordsFor(one).includes(word)))
      .map((word) => `${folder}: ${word}`),
  );
  expect(unused).toEqual([]);
});

it('never imports test code', () => {
  const outside = imports.filter(({ target }) => target.startsWith('../'));
  const allowed = ['../package.json', '../docs/explain.md?raw'];
  expect(outside.filter(({ target }) => !allowed.includes(target))).toEqual([]);
});

it('answers what programs do with a signal in at most 891 lines of code, comments and data not counted', () => {
  const own = files.filter(({ path }) => path.startsWith('programs/'));
  const lines = own.flatMap(({ path }) => readFileSync(join(source, path), 'utf8').split('\n'));
  expect(lines.filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line)).length).toBeLessThanOrEqual(891);
});

it.each(Object.entries(folders))('%s stays within its size and its longest chain of imports', (folder, most) => {
  const own = files.filter(({ path }) => path.startsWith(`${folder}/`));
  const paths = own.map(({ path }) => path);
  const lines = own.reduce((sum, file) => sum + file.lines, 0);
  expect(lines, `lines in src/${folder} (see scripts/structure/folders.ts)`).toBeLessThanOrEqual(most.mostLines);
  expect(own.length, `files in src/${folder}`).toBeLessThanOrEqual(most.mostFiles);
  expectShortChains(paths, most.longestChain);
});

it('has no cycle of imports, including types, and no longer chain than the limit of src', () => {
  const paths = files.map(({ path }) => path);
  expectShortChains(paths, longestChainOfSource);
  expect(cyclesOf(paths, imports).map((cycle) => cycle.join(' ↔ '))).toEqual([]);
});

function expectShortChains(paths: string[], most: number): void {
  const chain = longestChain(
    paths,
    imports.filter(({ kind }) => kind !== 'type'),
  );
  expect(chain.length, chain.join('\n  → ')).toBeLessThanOrEqual(most);
}

it('has no clock in pure folders, no global timers where a clock is injected, and the process only at the edge', () => {
  const impure =
    /\bDate\.now\(|\bnew Date\(\)|\bperformance\.|\bprocess\.|\bset(?:Timeout|Interval|Immediate)\(|\bMath\.random\(/;
  // A method `setTimeout` of a clock, and its declaration, do not match.
  const processTimer = /(?<![.\w])set(?:Timeout|Interval|Immediate)\((?!\w+: )/;
  const touching = filesBelow(source).filter((file) => {
    const name = relative(source, file).split(sep).join('/');
    const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    if (/^(programs|model|infer|verdict)\//.test(name)) return impure.test(text);
    if (/^(output|run|recording)\//.test(name) && name !== 'run/clock.ts' && processTimer.test(text)) return true;
    return /^(output|run|kube|recording)\//.test(name) && /\bprocess\.(?!nextTick)/.test(text);
  });
  expect(touching.map((file) => relative(source, file))).toEqual([]);
});

it('exports no value that no other file uses', () => {
  const all = ['src', 'bin', 'scripts', 'test'].flatMap((folder) => filesBelow(join(source, '..', folder)));
  const texts = new Map(all.map((file) => [file, readFileSync(file, 'utf8')]));
  const users = new Map<string, string[]>();
  for (const [file, text] of texts)
    for (const [, specifier = ''] of text.matchAll(/\b(?:from|import)[\s(]+'(\.[^']+)'/g)) {
      const target = resolve(dirname(file), specifier);
      users.set(target, [...(users.get(target) ?? []), text]);
    }
  const value = /^export (?:async )?(?:const|let|class|function\*?|enum) (\w+)/gm;
  const unused = filesBelow(source).flatMap((file) =>
    [...(texts.get(file) ?? '').matchAll(value)]
      .filter(([, name = '']) => !users.get(file)?.some((text) => new RegExp(`\\b${name}\\b`).test(text)))
      .map(([, name]) => `${relative(source, file)}: ${name}`),
  );
  expect(unused).toEqual([]);
});

it('gives each exported name one meaning: no two files export the same', () => {
  const declared = /^export (?:async )?(?:const|let|class|function\*?|enum|type|interface) (\w+)/gm;
  const names = filesBelow(source).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(declared)].map(([, name = '']) => name),
  );
  const duplicates = names.filter((name, index) => names.indexOf(name) !== index);
  expect(duplicates).toEqual([]);
});

it('decides only in src/advice about hooks, grace periods and the handling of signals', () => {
  const remedy =
    /preStop sleep \$|such as tini|without --grace-period|handler for its stop signal|[Gg]race period \$\{.*\}s \(/;
  const deciding = filesBelow(source)
    .map((file) => [relative(source, file).split(sep).join('/'), readFileSync(file, 'utf8')] as const)
    .filter(([file, text]) => /^(verdict|output|run|watch|cli)\//.test(file) && remedy.test(text));
  expect(deciding.map(([file]) => file)).toEqual([]);
});

it('names only existing files in docs/architecture.md', () => {
  const root = join(source, '..');
  const text = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8');
  const named = [...text.matchAll(/`((?:src|test|scripts)\/[\w/.-]+)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it('names only existing files in its comments', () => {
  const root = join(source, '..');
  const folders = ['src', 'bin', 'scripts', 'test'].map((folder) => join(root, folder));
  const there = folders.flatMap(filesBelow).map((file) => `/${relative(root, file).split(sep).join('/')}`);
  const missing = folders.flatMap(filesBelow).flatMap((file) => {
    const comments = readFileSync(file, 'utf8').match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm) ?? [];
    const named = comments.flatMap(
      (text) => text.match(/(?<![\w*./-])[\w-]+(?:\/[\w-]+)*(?:\.test|\.sweep)?\.ts\b/g) ?? [],
    );
    return named.filter((name) => !there.some((path) => path.endsWith(`/${name}`))).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

it('cites only existing pages and headings', () => {
  const cited = ['src', 'bin', 'scripts', 'test'].flatMap((folder) =>
    filesBelow(join(source, '..', folder)).flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(/\b(?:docs\/)?([A-Z]{3,}|(?<=docs\/)[\w-]+)\.md\b(?: "([^"\n]+)")?/g),
      ].map(([words, page = '', heading]) => ({ file: relative(source, file), words, page, heading })),
    ),
  );
  expect(cited.length).toBeGreaterThan(80);
  const missing = cited.filter(({ page, heading }) => {
    const places = [`docs/${page}.md`, `${page}.md`].map((name) => join(source, '..', name));
    const text = places.filter((place) => existsSync(place)).map((place) => readFileSync(place, 'utf8'))[0];
    return text === undefined || (heading !== undefined && !text.includes(`## ${heading}\n`));
  });
  expect(missing.map(({ file, words }) => `${file}: ${words}`)).toEqual([]);
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|js|mjs)$/.test(file))
    .map((file) => join(folder, file));
}

function folderOf(path: string): string {
  return path.split('/')[0]?.replace(/\.ts$/, '') ?? '';
}

function folderOrPackage({ target }: Import): string {
  if (target.startsWith('node:')) return 'node:';
  if (target.startsWith('../')) return target.split('/').at(-1) ?? '';
  if (files.some(({ path }) => path === target)) return folderOf(target);
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}
