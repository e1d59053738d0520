/** Types of bundle.mjs, for TypeScript code. */
import type { BuildOptions } from 'esbuild';

export const asOneScript: BuildOptions & { metafile: true };
export function bundle(root: string, outdir: string): Promise<{ inputs: Record<string, unknown> }>;
export function startSize(
  root: string,
): Promise<{ total: number; places: [place: string, bytes: number][]; inputs: string[] }>;
