import type { Sighting } from '../trace/observation.ts';
import type { Answer, Cluster } from './cluster.ts';
import { TransportFailure } from './http/failure.ts';
import { isNewer, versionOf } from './resource-version.ts';
import { asArray, asRecord, asText } from './status.ts';
import type { WatchTarget } from './watch-target.ts';
import { selectors } from './watch-target.ts';

/** What a stream knows, to be compared with what the server says when it is asked. */
export interface Known {
  resourceVersion: string;
  /** The named object exists, as far as the stream has told; undefined for a collection. */
  present?: boolean;
}

export interface Alive {
  /** The server has something that the stream did not bring (yet). */
  ahead: boolean;
  /** The question was answered: up to now the stream has told all there was, unless `ahead`. */
  answered: boolean;
  /** The answer spoke of all that the stream is about, not of its first page. */
  complete: boolean;
  dated: Sighting[];
}

/** Enough to see the newest Event of a pod, which stands anywhere in the list; all of them only for a handful. */
const lookedAt = { narrowed: '50', whole: '1' };

/**
 * Whether a silent stream has missed something: found by asking, since silence is what a good stream does for minutes.
 * Only metadata is asked for, where the server can. A question without an answer proves nothing.
 */
export async function askWhatIsNew(
  cluster: Cluster,
  target: WatchTarget,
  known: Known,
  signal: AbortSignal,
): Promise<Alive> {
  let answer: Answer;
  try {
    answer = await cluster.request(
      target.name === undefined ? aboutCollection(target, signal) : aboutObject(target, signal),
    );
  } catch (error) {
    if (error instanceof TransportFailure || signal.aborted)
      return { ahead: false, answered: false, complete: false, dated: [] };
    throw error;
  }
  const answered = answer.status === 200 || (answer.status === 404 && target.name !== undefined);
  const next = asText(asRecord(asRecord(answer.body)['metadata'])['continue']);
  const ahead = answered && isAhead(answer, target, known);
  return { ahead, answered, complete: target.name !== undefined || next === '', dated: answer.dated };
}

function isAhead(answer: Answer, target: WatchTarget, known: Known): boolean {
  if (answer.status === 404) return known.present === true;
  const objects = target.name === undefined ? asArray(asRecord(answer.body)['items']) : [answer.body];
  return objects.some((object) => isNewer(versionOf(object), known.resourceVersion));
}

function aboutObject(target: WatchTarget, signal: AbortSignal) {
  const path = `${target.path}/${encodeURIComponent(target.name ?? '')}`;
  return { method: 'GET', path, accept: metadataOf('PartialObjectMetadata'), signal } as const;
}

function aboutCollection(target: WatchTarget, signal: AbortSignal) {
  const narrowed = selectors(target);
  const limit = Object.keys(narrowed).length > 0 ? lookedAt.narrowed : lookedAt.whole;
  const query = { ...narrowed, limit };
  return { method: 'GET', path: target.path, query, accept: metadataOf('PartialObjectMetadataList'), signal } as const;
}

function metadataOf(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}
