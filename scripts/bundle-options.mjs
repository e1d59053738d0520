/**
 * What all bundles of the program share, so that they run the same code in the same form. Names stay as they were written:
 * a stack tells them, and short ones that are to tell theirs (`keepNames`) cost a call for every function and every closure
 * that is made, up to a tenth of the time to the DELETE.
 */
export const bundled = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  metafile: true,
  legalComments: 'none',
};

/** The whole program as one CommonJS script: dist/podexit.cjs, and what a single executable holds. */
export const asOneScript = { ...bundled, entryPoints: ['src/cli/start-single.ts'], format: 'cjs' };
