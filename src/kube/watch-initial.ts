/** A watch that begins with the whole state (streaming lists), or a server that sends none. */
import type { Sighting } from '../model/observation.ts';
import type { Cluster } from './cluster.ts';
import type { WatchLine } from './watch-line.ts';
import { readWatchLine } from './watch-line.ts';
import type { Ending, Position } from './watch-position.ts';
import { tellList } from './watch-position.ts';
import type { Reader } from './watch-reader.ts';
import { end, outcomeOf, refusedInside } from './watch-reader.ts';
import type { WatchTarget } from './watch-target.ts';
import { keyOf } from './watch-target.ts';

/** ms without the end mark, and what that means. */
const quiet = {
  /** A server that knows streaming lists sends the end mark at once. */
  beforeEndMark: 1000,
  /** The same where another stream has already been given one. */
  beforeKnownEndMark: 15_000,
  /** Lines that go on and on without it: a server that took no notice, and a busy collection. */
  beforeAnyEndMark: 20_000,
};

/** The whole state, told as one list: up to the end mark of a streaming list. */
export async function* readInitialState(
  { cluster, signal, next }: Reader,
  target: WatchTarget,
  position: Position,
  sentAt: number,
): AsyncGenerator<Sighting, Ending | undefined> {
  const state = new Map<string, unknown>();
  const until = cluster.surroundings.now() + quiet.beforeAnyEndMark;
  for (;;) {
    const known = cluster.memory.streamingLists === 'given';
    const event = await next(cluster, known ? quiet.beforeKnownEndMark : quiet.beforeEndMark, signal);
    if (event === undefined || cluster.surroundings.now() > until)
      return signal.aborted ? end({ kind: 'ended' }) : withheld(cluster);
    // Over, in order, before it began: a list shows whether there is a Kubernetes API at all.
    if (event.kind === 'end' && event.clean && state.size === 0) return withheld(cluster);
    if (event.kind !== 'line') return end(outcomeOf(event));
    const line = readWatchLine(event.bytes);
    if (line.kind === 'malformed') return end({ kind: state.size === 0 ? 'foreign' : 'cut' });
    if (line.kind === 'error')
      return [400, 422].includes(line.refusal.status) ? withheld(cluster) : refusedInside(line);
    if (line.kind === 'change') {
      keep(state, line);
    } else if (line.initialEnd) {
      if (line.resourceVersion === undefined) return withheld(cluster);
      cluster.memory.streamingLists = 'given';
      const list = {
        resourceVersion: line.resourceVersion,
        objects: [...state.values()],
        sentAt,
        at: event.at,
      };
      return yield* tellList(target, position, list);
    }
  }
}

/** The other streams need not try it again. */
function withheld(cluster: Cluster): Ending {
  cluster.memory.streamingLists = 'withheld';
  return end({ kind: 'no-streaming-list' });
}

/** Changes while the state is still being sent are a part of it. */
function keep(state: Map<string, unknown>, { change, object }: Extract<WatchLine, { kind: 'change' }>): void {
  const key = keyOf(object);
  if (change === 'DELETED') state.delete(key);
  else state.set(key, object);
}
