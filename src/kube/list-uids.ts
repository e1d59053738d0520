import { acceptMetadata } from './accept-metadata.ts';
import type { Cluster } from './cluster.ts';
import { askPatiently } from './get.ts';
import { TransportFailure } from './http/failure.ts';
import { versionOf } from './resource-version.ts';
import { asArray, asRecord, asText } from './status.ts';
import type { WatchTarget } from './watch-target.ts';
import { selectors } from './watch-target.ts';

export interface Uids {
  resourceVersion: string;
  uids: string[];
  /** ms, client clock. */
  sentAt: number;
  at: number;
}

/** More than this is no list to be held in passing. */
const most = '500';

/** Who is in a collection, by metadata alone; undefined where the server does not say, or not of all. */
export async function listUids(cluster: Cluster, target: WatchTarget, signal: AbortSignal): Promise<Uids | undefined> {
  const query = { ...selectors(target), limit: most };
  const accept = acceptMetadata('PartialObjectMetadataList');
  try {
    const { status, body, sentAt, at } = await askPatiently(cluster, {
      method: 'GET',
      path: target.path,
      query,
      accept,
      signal,
    });
    const resourceVersion = versionOf(body);
    const isWhole = asText(asRecord(asRecord(body)['metadata'])['continue']) === '';
    if (status !== 200 || resourceVersion === undefined || !isWhole) return undefined;
    const uids = asArray(asRecord(body)['items']).map((item) => asText(asRecord(asRecord(item)['metadata'])['uid']));
    return { resourceVersion, uids, sentAt, at };
  } catch (error) {
    if (error instanceof TransportFailure || signal.aborted) return undefined;
    throw error;
  }
}
