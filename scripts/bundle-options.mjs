/** What all bundles of the program share, so that they run the same code in the same form. */
export const bundled = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  minify: true,
  metafile: true,
  legalComments: 'none',
};

/** The whole program as one CommonJS script: dist/podexit.cjs, and what a single executable holds. */
export const asOneScript = { ...bundled, entryPoints: ['src/cli/start.ts'], format: 'cjs' };
