/** The licence texts of everything that is bundled. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { thirdPartyLicenses } from '../../scripts/licenses.mjs';
import { nodeLicense } from '../../scripts/release/node-license.ts';
import { root } from '../helpers/built.ts';

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe('THIRD-PARTY-LICENSES', () => {
  /** The licences of a bundle with one package `it`. */
  const licenses = (manifest: object, files: Record<string, string> = {}): Promise<string> =>
    thirdPartyLicenses(
      { inputs: { 'node_modules/it/index.js': {} } },
      folderWith({
        'node_modules/it/package.json': JSON.stringify({ name: 'it', version: '1.0.0', ...manifest }),
        ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`node_modules/it/${name}`, text])),
      }),
    );

  it('has a licence text for every package', () => {
    const text = readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES'), 'utf8');
    const parts = text.split(/^-{78}\n(.+ \d+\.\d+\.\d+ \(.+\))\n-{78}$/m).slice(1);
    expect(parts.length).toBeGreaterThan(40);
    const empty = parts.filter((part, index) => index % 2 === 1 && part.trim().length < 200);
    expect(empty).toEqual([]);
  });

  it('has the licence file of the package, under each usual name', async () => {
    for (const name of ['LICENSE', 'License.md', 'LICENCE', 'UNLICENSE', 'COPYING'])
      expect(await licenses({ license: 'X' }, { [name]: 'the terms' })).toContain('the terms');
  });

  it('has the standard text with the author if the package ships no text', async () => {
    const text = await licenses({ license: 'MIT', author: 'A. Person <a@example.org>' });
    expect(text).toContain('Copyright (c) A. Person <a@example.org>');
    expect(text).toContain('Permission is hereby granted');
    expect(await licenses({ license: 'MIT', author: { name: 'B. Person' } })).toContain('Copyright (c) B. Person\n');
  });

  it.each([
    ['no known text', { license: 'Beerware', author: 'A' }, {}],
    ['no author', { license: 'MIT' }, {}],
    ['an empty file', { license: 'MIT', author: 'A' }, { LICENSE: '\n' }],
    ['no licence at all', {}, {}],
  ])('is not written for a package with %s', async (_, manifest, files) => {
    await expect(licenses(manifest, files)).rejects.toThrow(/^it 1\.0\.0 \(.*\) is bundled, and there is no text/);
  });
});

describe("Node's own licence", () => {
  const text = 'Node.js is licensed for use as follows:\n';

  it.each([
    ['Windows', 'node.exe', 'LICENSE'],
    ['an unpacked release', 'bin/node', 'LICENSE'],
    ["a system's package", 'bin/node', 'share/doc/nodejs/LICENSE'],
  ])('is found in %s', async (_, binary, file) => {
    expect(await nodeLicense(join(folderWith({ [binary]: '', [file]: text }), binary))).toBe(text);
  });

  it('is not confused with another LICENSE, and the error lists the searched paths', async () => {
    const folder = folderWith({ 'bin/node': '', LICENSE: 'of something else' });
    await expect(nodeLicense(join(folder, 'bin/node'))).rejects.toThrow(join(folder, 'LICENSE'));
  });
});
