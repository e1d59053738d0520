/** Text of THIRD-PARTY-LICENSES, from esbuild's metafile. */
export function thirdPartyLicenses(metafile: { inputs: Record<string, unknown> }, root: string): Promise<string>;
