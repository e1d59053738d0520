import type { Kubeconfig } from './kubeconfig.ts';

/**
 * Several files as one, by kubectl's rule: of entries of the same name the first wins whole, and so does the first
 * current-context ("Organizing Cluster Access Using kubeconfig Files", Kubernetes documentation).
 */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  const currentContext = files.find((file) => file.currentContext !== undefined)?.currentContext;
  return {
    ...(currentContext === undefined ? {} : { currentContext }),
    clusters: firstWins(files.map((file) => file.clusters)),
    users: firstWins(files.map((file) => file.users)),
    contexts: firstWins(files.map((file) => file.contexts)),
  };
}

function firstWins<T>(maps: readonly ReadonlyMap<string, T>[]): Map<string, T> {
  return new Map([...maps].reverse().flatMap((map) => [...map]));
}
