/** Longest chains and cycles of imports between files. */

type Edges = readonly { file: string; target: string }[];

/** The longest path from a file to one that imports none of these files. */
export const longestChain = (files: readonly string[], edges: Edges): string[] => walk(files, edges).longest;

/** Cycles of files that import each other. If there are cycles, it returns at least one. */
export const cyclesOf = (files: readonly string[], edges: Edges): string[][] => walk(files, edges).cycles;

function walk(files: readonly string[], edges: Edges): { longest: string[]; cycles: string[][] } {
  const targets = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const { file, target } of edges) if (targets.has(target)) targets.get(file)?.push(target);
  const chains = new Map<string, string[]>();
  const cycles: string[][] = [];
  const chainFrom = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) {
      cycles.push(path.slice(path.indexOf(file)));
      return [];
    }
    const chain = chains.get(file) ?? [
      file,
      ...longestOf((targets.get(file) ?? []).map((target) => chainFrom(target, [...path, file]))),
    ];
    chains.set(file, chain);
    return chain;
  };
  return { longest: longestOf(files.map((file) => chainFrom(file, []))), cycles };
}

const longestOf = (chains: readonly string[][]): string[] =>
  chains.reduce((best, one) => (one.length > best.length ? one : best), []);
