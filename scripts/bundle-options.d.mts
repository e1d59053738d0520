import type { BuildOptions } from 'esbuild';

type Bundled = BuildOptions & { metafile: true };

export const bundled: Bundled;
export const asOneScript: Bundled;
