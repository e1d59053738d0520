/** The import table of the house (docs/architecture.md): a room imports what its row says, and every word of a row is used. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('../src/', import.meta.url));

/** `type:` in front of a room: only its types. `node:` stands for every module of Node. */
const table: Record<string, string[]> = {
  model: [],
  infer: ['model'],
  verdict: ['model', 'infer'],
  kube: [
    'type:model',
    'errors',
    'node:',
    '@kubernetes/client-node',
    'debug',
    'http-proxy-agent',
    'https-proxy-agent',
    'socks-proxy-agent',
    'js-yaml',
  ],
  recording: ['type:model', 'errors', 'node:'],
  render: [
    'model',
    'infer',
    'verdict',
    'errors',
    'node:',
    'chalk',
    'cli-table3',
    'jsonpath-plus',
    'ora',
    'string-width',
    'js-yaml',
  ],
  demo: ['node:'],
  run: ['model', 'infer', 'verdict', 'kube', 'recording', 'render', 'export', 'demo', 'errors', 'node:'],
  export: [
    'type:model',
    '@opentelemetry/api',
    '@opentelemetry/core',
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/exporter-trace-otlp-proto',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace-base',
  ],
  cli: ['run', 'type:kube', 'verdict', 'errors', 'node:', 'commander', 'js-yaml', 'package.json'],
  errors: [],
};

interface Import {
  file: string;
  room: string;
  /** A room, a package, or `node:`. */
  target: string;
  typeOnly: boolean;
}

const imports = filesBelow(source).flatMap(importsOf);
function allowed(one: Import): string[] {
  return one.typeOnly ? [one.target, `type:${one.target}`] : [one.target];
}

it('imports only what the table allows', () => {
  const broken = imports.filter((one) => !allowed(one).some((word) => table[one.room]?.includes(word)));
  expect(broken.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('has no word in the table that nothing uses', () => {
  const stale = Object.entries(table).flatMap(([room, words]) =>
    words
      .filter((word) => !imports.some((one) => one.room === room && allowed(one).includes(word)))
      .map((word) => `${room}: ${word}`),
  );
  expect(stale).toEqual([]);
});

it('keeps clocks and the process out of the pure rooms, timers of the process out of what is given a clock, and the process out of all but the edge', () => {
  const impure =
    /\bDate\.now\(|\bnew Date\(\)|\bperformance\.|\bprocess\.|\bset(?:Timeout|Interval|Immediate)\(|\bMath\.random\(/;
  // A clock's own is called as its method, and declared with its types.
  const processTimer = /(?<![.\w])set(?:Timeout|Interval|Immediate)\((?!\w+: )/;
  const touching = filesBelow(source).filter((file) => {
    const name = relative(source, file).split(sep).join('/');
    const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    if (/^(model|infer|verdict)\//.test(name)) return impure.test(text);
    if (/^(render|run|recording)\//.test(name) && name !== 'run/clock.ts' && processTimer.test(text)) return true;
    return /^(render|run|kube|recording)\//.test(name) && /\bprocess\.(?!nextTick)/.test(text);
  });
  expect(touching.map((file) => relative(source, file))).toEqual([]);
});

it('exports no value that no other file takes', () => {
  const all = ['src', 'bin', 'scripts', 'test'].flatMap((folder) => filesBelow(join(source, '..', folder)));
  const texts = new Map(all.map((file) => [file, readFileSync(file, 'utf8')]));
  const takers = new Map<string, string[]>();
  for (const [file, text] of texts)
    for (const [, specifier = ''] of text.matchAll(/\b(?:from|import)[\s(]+'(\.[^']+)'/g)) {
      const target = resolve(dirname(file), specifier);
      takers.set(target, [...(takers.get(target) ?? []), text]);
    }
  const value = /^export (?:async )?(?:const|let|class|function\*?|enum) (\w+)/gm;
  const unused = filesBelow(source).flatMap((file) =>
    [...(texts.get(file) ?? '').matchAll(value)]
      .filter(([, name = '']) => !takers.get(file)?.some((text) => new RegExp(`\\b${name}\\b`).test(text)))
      .map(([, name]) => `${relative(source, file)}: ${name}`),
  );
  expect(unused).toEqual([]);
});

it('cites only pages, and headings of them, that are there', () => {
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

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = [
    ...text.matchAll(/^(import|export)\s+(type\s)?[^;'"]*?from\s+'([^']+)'/gm),
    ...[...text.matchAll(/()()import\('([^']+)'\)/g)],
  ];
  return found
    .map(([, , typeOnly, specifier = '']) => ({
      file: relative(source, file),
      room: roomOf(file),
      target: targetOf(file, specifier),
      typeOnly: Boolean(typeOnly),
    }))
    .filter(({ room, target }) => room !== target);
}

function roomOf(file: string): string {
  return relative(source, file).split(sep)[0]?.replace(/\.ts$/, '') ?? '';
}

function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:';
  if (!specifier.startsWith('.'))
    return specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/');
  const target = resolve(dirname(file), specifier);
  return target.startsWith(source) ? roomOf(target) : (specifier.split('/').at(-1) ?? '');
}
