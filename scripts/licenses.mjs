// The licences of every package whose code is in the bundle, as their terms ask: in the package that ships it.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Text of THIRD-PARTY-LICENSES, from esbuild's metafile. Throws where a bundled package has no licence text. */
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
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
  if (files.length === 0 && license === undefined) throw new Error(`${name} is bundled and names no licence`);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const rule = '-'.repeat(78);
  return `${rule}\n${name} ${version} (${license})\n${rule}\n\n${texts.map((text) => `${text.trim()}\n`).join('\n')}`;
}
