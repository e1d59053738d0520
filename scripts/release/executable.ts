/** One executable that needs no Node: the bundle inside a copy of this Node (single executable application). */
import { execFile } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { asOneScript } from '../bundle.mjs';
import { thirdPartyLicenses } from '../licenses.mjs';
import { nodeLicense } from './node-license.ts';
import { binaryOf, type Platform } from './platforms.ts';

const run = promisify(execFile);

/** The fuse in every Node that supports this (nodejs.org/api/single-executable-applications). */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Fills `folder` with the files of the archive. */
export async function buildExecutable(root: string, folder: string, platform: Platform): Promise<void> {
  await mkdir(folder, { recursive: true });
  const work = join(folder, '..', 'sea');
  await mkdir(work, { recursive: true });
  const bundle = join(work, 'podexit.cjs');
  const { metafile } = await build({
    ...asOneScript,
    absWorkingDir: root,
    outfile: bundle,
    // The script of a single executable cannot import, and can require only Node's own modules.
    supported: { 'dynamic-import': false },
    // Files beside the bundle ship beside the executable, which may be started through a symlink of Krew.
    define: { 'import.meta.url': '__here' },
    banner: {
      js: "const __here=require('node:url').pathToFileURL(require('node:fs').realpathSync(process.execPath)).href;",
    },
  });
  const blob = 'podexit.blob';
  const config = {
    // Relative, since a folder would appear in the executable and in its stack traces.
    main: 'podexit.cjs',
    output: blob,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
  };
  await writeFile(join(work, 'sea.json'), JSON.stringify(config));
  await run(process.execPath, ['--experimental-sea-config', 'sea.json'], { cwd: work });
  await inject(join(folder, binaryOf(platform)), join(work, blob), root, platform);
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await writeFile(join(folder, 'LICENSE.node'), await nodeLicense(process.execPath));
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES'), await thirdPartyLicenses(metafile, root));
  await cp(join(root, 'src/demo/scenarios'), join(folder, 'scenarios'), { recursive: true });
}

async function inject(binary: string, blob: string, root: string, { os }: Platform): Promise<void> {
  await copyFile(process.execPath, binary);
  await chmod(binary, 0o755);
  // The change breaks the signature, and macOS runs nothing with a broken signature.
  if (os === 'darwin') await run('codesign', ['--remove-signature', binary]);
  const segment = os === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
  const postject = join(root, 'node_modules/postject/dist/cli.js');
  await run(process.execPath, [postject, binary, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse, ...segment]);
  if (os === 'darwin') await run('codesign', ['--sign', '-', binary]);
}
