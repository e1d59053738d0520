/** Where the watches of a raw recording ended, and whether they were taken up again. Pure. */
import type { Row } from '../recording/rows.ts';
import type { StreamName } from '../model/observation.ts';
import type { Subject } from './raw-subject.ts';
import { subjectOf } from './raw-subject.ts';
import { streamsOf, targetsOf } from './raw-targets.ts';

type ListRow = Extract<Row, { type: 'list' }>;

export interface Cuts {
  /** The ends of watches whose resource was never listed again. */
  lasting: ReadonlySet<Row>;
  /** For a list that came after an end of its watch: since when (ms). */
  since: ReadonlyMap<ListRow, number>;
}

/** As in a live run, what a watch may have missed after its end is a gap until the resource is listed anew. */
export function cutsOf(rows: readonly Row[]): Cuts {
  const open = new Map<string, Row>();
  const since = new Map<ListRow, number>();
  for (const row of rows) {
    if (row.type === 'watch-end' && !open.has(row.resource)) open.set(row.resource, row);
    if (row.type !== 'list') continue;
    const end = open.get(row.resource);
    if (end) since.set(row, end.at);
    open.delete(row.resource);
  }
  return { lasting: new Set(open.values()), since };
}

/** A stream that was away from `from` until a list at `to` showed it again (ms). */
export interface Absence {
  stream: StreamName;
  from: number;
  to: number;
}

/** As the lists show them at their time: a run that ends before has to state them. */
export function absencesIn(rows: readonly Row[], subject: Subject | undefined = subjectOf(rows)): Absence[] {
  const targets = subject ? targetsOf(rows, subject) : [];
  return [...cutsOf(rows).since].flatMap(([{ at: to, resource }, from]) =>
    streamsOf(targets.filter((target) => target.resource === resource)).map((stream) => ({ stream, from, to })),
  );
}
