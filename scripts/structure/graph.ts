/** Cycles and longest chains of imports between files. */

/** Maps each file to the files that it imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export function graphOf(files: readonly string[], edges: readonly { file: string; target: string }[]): ImportGraph {
  const known = new Set(files);
  const graph = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const { file, target } of edges) if (known.has(target)) graph.get(file)?.push(target);
  return graph;
}

/** Groups of files that import each other, directly or through others (Tarjan's strongly connected components). */
export function cyclesOf(graph: ImportGraph): string[][] {
  return components(graph).filter((group) => group.length > 1 || graph.get(group[0] ?? '')?.includes(group[0] ?? ''));
}

/** The longest path from a file to one that imports nothing. A cycle on the path counts with all its files. */
export function longestChain(graph: ImportGraph): string[] {
  const groups = components(graph);
  const groupOf = new Map(groups.flatMap((group) => group.map((file) => [file, group] as const)));
  const chains = new Map<string[], string[]>();
  let longest: string[] = [];
  // Tarjan's algorithm returns a group after all groups that it imports.
  for (const group of groups) {
    const below = group
      .flatMap((file) => graph.get(file) ?? [])
      .map((target) => groupOf.get(target) ?? [])
      .filter((target) => target !== group)
      .map((target) => chains.get(target) ?? []);
    const chain = [...group, ...below.reduce((best, one) => (one.length > best.length ? one : best), [])];
    chains.set(group, chain);
    if (chain.length > longest.length) longest = chain;
  }
  return longest;
}

function components(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const groups: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.get(file) ?? 0);
    open.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) visit(target);
      if (open.includes(target)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(target) ?? 0));
    }
    if (lowest.get(file) === order.get(file)) groups.push(open.splice(open.indexOf(file)));
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return groups;
}
