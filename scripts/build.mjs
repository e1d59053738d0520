// Builds dist/: the program in one file, and what only some runs need beside it, split so that what a command does not
// need is never read. It appears whole or not at all.
import { build } from 'esbuild';
import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundled } from './bundle-options.mjs';
import { bundleHot } from './bundle-hot.mjs';
import { thirdPartyLicenses } from './licenses.mjs';
import { keepCompiled } from './keep-compiled.mjs';
import { writeSaid } from './said.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const fresh = `${root}dist.${process.pid}`;

try {
  const hot = await bundleHot(root, fresh);
  const { metafile } = await build({
    ...bundled,
    entryPoints: [
      { in: 'src/cli/start.ts', out: 'podexit' },
      ...Object.entries(hot.entries).map(([name, file]) => ({ in: file, out: `cold/${name}` })),
    ],
    absWorkingDir: root,
    outdir: fresh,
    splitting: true,
    format: 'esm',
    chunkNames: 'chunks/[name]-[hash]',
    // CommonJS packages inside ES modules still call require.
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  });
  const inputs = { ...metafile.inputs, ...hot.metafile.inputs };
  await writeFile(`${fresh}/THIRD-PARTY-LICENSES`, await thirdPartyLicenses({ inputs }, root));
  await cp(`${root}src/demo/scenarios`, `${fresh}/scenarios`, { recursive: true });
  await writeSaid(fresh);
  await keepCompiled(fresh);
  await rm(`${root}dist`, { recursive: true, force: true });
  await rename(fresh, `${root}dist`);
} finally {
  await rm(fresh, { recursive: true, force: true });
}
