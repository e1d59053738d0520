// Builds dist/: ES modules, split so that what a command does not need is never read.
import { build } from 'esbuild';
import { cp, rm } from 'node:fs/promises';

await rm(new URL('../dist/', import.meta.url), { recursive: true, force: true });

await build({
  entryPoints: [{ in: 'src/cli/start.ts', out: 'podexit' }],
  absWorkingDir: new URL('..', import.meta.url).pathname.replace(/^\/([A-Za-z]:)/, '$1'),
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  keepNames: true,
  legalComments: 'none',
  chunkNames: 'chunks/[name]-[hash]',
  // CommonJS packages inside ES modules still call require.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
});

await cp(new URL('../src/loopback/scenarios/', import.meta.url), new URL('../dist/scenarios/', import.meta.url), {
  recursive: true,
  force: true,
}).catch(() => {});
