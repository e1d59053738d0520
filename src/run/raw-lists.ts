/** Which streams a raw recording has too late, or not at all: what it lacks did not fail to happen. Pure. */
import type { Row } from '../recording/rows.ts';
import type { StreamName } from '../model/observation.ts';
import { streamsOf } from './raw-targets.ts';
import type { Target } from './watched.ts';

/** With the row by which each is in sync all the same; undefined: never. */
export type Late = ReadonlyMap<StreamName, Row | undefined>;

/** The format has no Leases (shared/recordings), and only what a recorder was meant to hold can be missed. */
const optional: ReadonlySet<StreamName> = new Set(['lease']);

/** The streams whose state was not listed before the row at `due`. */
export function lateIn(rows: readonly Row[], targets: readonly Target[], due: number): Late {
  const firsts = firstsIn(rows);
  const late = new Map<StreamName, Row | undefined>();
  for (const stream of streamsOf(targets)) {
    const found = targets.filter((target) => target.stream === stream).map((target) => firstOf(target, firsts));
    if (found.every((first) => first !== undefined && first.row.type === 'list' && first.place < due)) continue;
    const isWhole = found.every((first) => first !== undefined);
    const last = found.reduce((a, b) => ((b?.place ?? -1) > (a?.place ?? -1) ? b : a), undefined);
    if (isWhole || !optional.has(stream)) late.set(stream, isWhole ? last?.row : undefined);
  }
  return late;
}

interface First {
  row: Row;
  place: number;
}

interface Firsts {
  list?: First;
  /** A change proves that the stream was watched, not since when, and nothing of what was there before. */
  change?: First;
}

function firstsIn(rows: readonly Row[]): Map<string, Firsts> {
  const firsts = new Map<string, Firsts>();
  for (const [place, row] of rows.entries()) {
    if (row.type !== 'list' && row.type !== 'watch') continue;
    const ofResource = firsts.get(row.resource) ?? {};
    firsts.set(row.resource, ofResource);
    if (row.type === 'list') ofResource.list ??= { row, place };
    else ofResource.change ??= { row, place };
  }
  return firsts;
}

/** By what a stream is found first. Of all but Events the state is what counts, and only a list has that. */
function firstOf({ stream, resource }: Target, firsts: ReadonlyMap<string, Firsts>): First | undefined {
  const { list, change } = firsts.get(resource) ?? {};
  if (!ofEvents.has(stream) || !change) return list;
  return !list || change.place < list.place ? change : list;
}

const ofEvents: ReadonlySet<StreamName> = new Set(['events', 'node-events', 'owner-events']);
