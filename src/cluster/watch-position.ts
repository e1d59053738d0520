import type { GapCause, Sighting } from '../trace/observation.ts';
import type { Cursor, Outcome } from './decide.ts';
import type { TransportFailure } from './http/failure.ts';
import { isNewer } from './resource-version.ts';
import type { Refusal } from './status.ts';
import type { WatchTarget } from './watch-target.ts';

/** Where one stream stands. Changed only after the consumer took an item. */
export interface Position extends Omit<Cursor, 'reached'> {
  synced: boolean;
  /** Client clock, ms: up to here nothing can have been missed. */
  goodAt: number;
  /** The named object exists. */
  present: boolean;
  /** When it was doubted, it had told all there was. */
  whole: boolean;
}

/** How an attempt ended, with what the server said where it refused. */
export interface Ending {
  outcome: Outcome;
  refusal?: Refusal;
  failure?: TransportFailure;
  verb: 'list' | 'watch';
}

/** A whole state: told with the gap before it, unless it is older than what was told already. */
export async function* tellList(
  target: WatchTarget,
  position: Position,
  list: { resourceVersion: string; objects: unknown[]; sentAt: number; at: number },
): AsyncGenerator<Sighting, Ending | undefined> {
  const { stream, name } = target;
  const { resourceVersion, objects, sentAt, at } = list;
  if (isNewer(position.resourceVersion, resourceVersion) && position.lost !== 'behind') {
    return { outcome: { kind: 'behind' }, verb: 'list' };
  }
  if (position.lost !== undefined && position.synced) yield gap(target, position.goodAt, at, position.lost);
  yield { kind: 'listed', at, stream, resourceVersion, objects, sentAt, ...(name === undefined ? {} : { name }) };
  if (!position.synced) yield { kind: 'synced', at, stream };
  Object.assign(position, {
    resourceVersion,
    synced: true,
    goodAt: at,
    present: objects.length > 0,
    failures: 0,
    behind: 0,
  });
  delete position.lost;
  return undefined;
}

function gap({ stream }: WatchTarget, from: number, to: number, cause: GapCause): Sighting {
  return { kind: 'gap', at: to, stream, from, to, cause };
}
