/** What a raw recording is of: the pod, and what its recorder itself asked for. */
import type { Row } from '../recording/rows.ts';
import type { Began } from '../model/observation.ts';
import {
  graceOf,
  markingOf,
  marksIn,
  podsIn,
  removalsOf,
  verbOf,
  type Removal,
  type RequestRow,
} from './raw-requests.ts';
import { metadataOf, type Raw } from './watched.ts';

export interface Subject {
  namespace: string;
  name: string;
  /** The row of the recorder's own DELETE or eviction of the pod. */
  request?: RequestRow;
}

/** The pod that the recorder deleted or evicted, else the one whose logs it followed, else the first that got deleted. */
export function subjectOf(rows: readonly Row[], name?: string): Subject | undefined {
  if (name !== undefined) return namedIn(rows, name);
  const seen = new Set(rows.flatMap(podsIn).map((pod) => metadataOf(pod)['name']));
  const removed = removedIn(rows, seen);
  return removed && seen.has(removed.name) ? removed : (seenIn(rows) ?? removed);
}

/** The pod of that name, and the recorder's own request for its end. */
function namedIn(rows: readonly Row[], name: string): Subject | undefined {
  const [pod] = rows.flatMap(podsIn).filter((one) => metadataOf(one)['name'] === name);
  const removals = removalsOf(rows).filter((one) => one.name === name);
  const marking = markingOf(removals, marksIn(rows).get(name));
  return (
    pod && { namespace: textOf(metadataOf(pod)['namespace']), name, ...(marking ? { request: marking.request } : {}) }
  );
}

/**
 * Somebody may have cleaned up before: of several pods the one that was seen, whose logs were followed, and whose removal was
 * accepted, in this order; of equals the one that was removed first.
 */
function removedIn(rows: readonly Row[], seen: ReadonlySet<unknown>): Subject | undefined {
  const marks = marksIn(rows);
  const followed = new Set(rows.flatMap((row) => (row.type === 'log-open' ? [row.pod] : [])));
  const rankOf = ({ name, doubt }: Removal): number =>
    Number(seen.has(name)) * 4 + Number(followed.has(name)) * 2 + Number(doubt === 0);
  const [found] = byPod(removalsOf(rows))
    .flatMap((ofPod) => markingOf(ofPod, marks.get(ofPod[0]?.name)) ?? [])
    .sort((a, b) => rankOf(b) - rankOf(a));
  return found && { namespace: found.namespace, name: found.name, request: found.request };
}

function byPod(removals: readonly Removal[]): Removal[][] {
  const pods = new Map<string, Removal[]>();
  for (const removal of removals) {
    const pod = `${removal.namespace}/${removal.name}`;
    const others = pods.get(pod);
    if (others) others.push(removal);
    else pods.set(pod, [removal]);
  }
  return [...pods.values()];
}

function seenIn(rows: readonly Row[]): Subject | undefined {
  const deleted = rows.find(
    (row) =>
      row.type === 'watch' && row.resource === 'pods' && metadataOf(row.object)['deletionTimestamp'] !== undefined,
  );
  const followed = rows.find((row) => row.type === 'log-open');
  const pods = podsOf(rows);
  const name =
    followed?.type === 'log-open'
      ? followed.pod
      : deleted?.type === 'watch'
        ? textOf(metadataOf(deleted.object)['name'])
        : undefined;
  const pod =
    pods.find((one) => metadataOf(one)['name'] === name) ?? (deleted?.type === 'watch' ? deleted.object : undefined);
  return pod && name !== undefined ? { namespace: textOf(metadataOf(pod)['namespace']), name } : undefined;
}

/** All objects that any list of the recording holds of a resource. */
export const listsOf = (rows: readonly Row[], resource: string): Raw[] =>
  rows.flatMap((row) => (row.type === 'list' && row.resource === resource ? row.objects : []));

/** A string, or the empty one for anything else: recordings are untrusted. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** All pods of its lists, newer states of one pod behind older ones. */
export const podsOf = (rows: readonly Row[]): Raw[] => listsOf(rows, 'pods');

/** How a live run of the same would have begun. */
export function began({ namespace, name, request }: Subject): Began {
  const mode = request ? verbOf(request) : 'attach';
  return {
    kind: 'began',
    mode,
    namespace,
    name,
    graceSeconds: graceOf(request),
    timeoutSeconds: null,
    waitReplacement: false,
  };
}
