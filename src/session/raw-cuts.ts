/** Where the watches of a raw recording ended, and whether they were taken up again. */
import type { Row } from '../recording/rows.ts';

export interface Cuts {
  /** The ends of watches whose resource was never listed again. */
  lasting: ReadonlySet<Row>;
  /** For a list that came after an end of its watch: since when (ms). */
  since: ReadonlyMap<Row, number>;
}

/** As in a live run, what a watch may have missed after its end is a gap until the resource is listed anew. */
export function cutsOf(rows: readonly Row[]): Cuts {
  const open = new Map<string, Row>();
  const since = new Map<Row, number>();
  for (const row of rows) {
    if (row.type === 'watch-end' && !open.has(row.resource)) open.set(row.resource, row);
    if (row.type !== 'list') continue;
    const end = open.get(row.resource);
    if (end) since.set(row, end.at);
    open.delete(row.resource);
  }
  return { lasting: new Set(open.values()), since };
}
