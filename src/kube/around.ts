import type { Cluster } from './cluster.ts';
import type { Health } from './health.ts';
import type { Position } from './watch-position.ts';
import type { WatchTarget } from './watch-target.ts';

/** One stream, and all that its attempts share. */
export interface Around {
  cluster: Cluster;
  target: WatchTarget;
  position: Position;
  signal: AbortSignal;
  health: Health;
}
