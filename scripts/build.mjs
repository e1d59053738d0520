// Builds dist/: the start of the program in one file, and parts that only some runs need. It is replaced atomically.
import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { thirdPartyLicenses } from './licenses.mjs';
import { writeStaticTexts } from './static-texts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const fresh = `${root}dist.${process.pid}`;

try {
  const metafile = await bundle(root, fresh);
  await writeFile(`${fresh}/THIRD-PARTY-LICENSES`, await thirdPartyLicenses(metafile, root));
  await cp(`${root}src/demo/scenarios`, `${fresh}/scenarios`, { recursive: true });
  await writeStaticTexts(fresh);
  await rm(`${root}dist`, { recursive: true, force: true });
  await rename(fresh, `${root}dist`);
} finally {
  await rm(fresh, { recursive: true, force: true });
}
