/** Options of all bundles of the program, so that all run the same code in the same form. */
export const bundled = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  minify: true,
  metafile: true,
  legalComments: 'none',
};

/** The whole program as one CommonJS script, for single executables. */
export const asOneScript = { ...bundled, entryPoints: ['src/cli/start.ts'], format: 'cjs' };
