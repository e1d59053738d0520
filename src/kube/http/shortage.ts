/**
 * Where this machine itself has no room for one more connection. The server never hears of such a request, and nobody could tell
 * it from a lost connection by the gap that it leaves in a report.
 */
import type { ClusterMemory } from '../cluster.ts';
import type { Surroundings } from '../surroundings.ts';
import type { TransportFailure } from './failure.ts';

/** By Node's code. */
const shortages: Readonly<Record<string, string>> = {
  EMFILE: 'this process may open no more files (EMFILE), so some streams have gaps; raise the limit: ulimit -n 8192',
  ENFILE: 'this machine may open no more files (ENFILE), so some streams have gaps; close other programs',
  EADDRNOTAVAIL: 'this machine has no free local port (EADDRNOTAVAIL), so some streams have gaps',
};

/** Says so on stderr, once for each cluster, at any `-v`. */
export function tellShortage(
  failure: TransportFailure,
  memory: ClusterMemory,
  { log }: Pick<Surroundings, 'log'>,
): void {
  const words = shortages[failure.code];
  if (words === undefined || memory.shortOf === failure.code) return;
  memory.shortOf = failure.code;
  log(0, words);
}
