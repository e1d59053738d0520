// The licences of all packages in the bundle. Their terms require that we ship them.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Text of THIRD-PARTY-LICENSES, from esbuild's metafile. Throws if a bundled package has no licence text. */
export async function thirdPartyLicenses(metafile, root) {
  const folders = [...new Set(Object.keys(metafile.inputs).flatMap((input) => packageFolder(input) ?? []))].sort();
  const parts = await Promise.all(folders.map((folder) => licenseOf(join(root, folder))));
  return `Software that is part of this package, and its licences.\n\n${parts.join('\n')}`;
}

/** `node_modules/a/node_modules/@b/c/lib/x.js` → `node_modules/a/node_modules/@b/c` */
function packageFolder(input) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0];
}

async function licenseOf(folder) {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => /^((un)?licen[cs]e|copying|notice)/i.test(file)).sort();
  const shipped = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const texts = shipped.length > 0 ? shipped : [standardText(license, author) ?? ''];
  if (texts.some((text) => text.trim() === ''))
    throw new Error(`${name} ${version} (${license}) is bundled, and there is no text of its licence`);
  const rule = '-'.repeat(78);
  return `${rule}\n${name} ${version} (${license})\n${rule}\n\n${texts.map((text) => `${text.trim()}\n`).join('\n')}`;
}

/** For a package without a licence file: the standard text of its SPDX name, with the author in its package.json. */
function standardText(license, author) {
  const holder = typeof author === 'string' ? author : author?.name;
  return holder && Object.hasOwn(standardTexts, license) ? standardTexts[license](holder) : undefined;
}

/** spdx.org/licenses */
const standardTexts = {
  MIT: (holder) => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`,
};
