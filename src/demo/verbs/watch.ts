import type { Cluster } from '../cluster.ts';
import { groupVersion, type Kind } from '../data/kinds.ts';
import type { ChangeType, KubeObject } from '../data/kube-object.ts';
import { select, since, stateAt, type Change } from '../data/log.ts';
import type { Selector } from '../data/selectors.ts';
import { invalid, tooOld } from '../data/status.ts';
import { isTrue, numberIn, revisionIn, selectorOf, type ApiRequest } from '../http/api-request.ts';
import type { Exchange, Stream } from '../http/exchange.ts';
import { tableOf, wantsTable } from './table.ts';

/** A real server ends a watch without timeoutSeconds after 30 to 60 minutes. */
const defaultTimeoutSeconds = 1800;
const bookmarkBeforeEndMs = 2_000;

/** Serves WATCH: the current objects if requested, then each change as it happens. */
export function serveWatch(cluster: Cluster, exchange: Exchange, kind: Kind): void {
  const { log, clock } = cluster;
  const { request } = exchange;
  const matches = selectorOf(request, kind);
  const isStreamingList = checkStreamingList(request);
  const asked = revisionIn(request);
  const beginsWithState = isStreamingList || asked === undefined || asked === 0;
  const allowsBookmarks = isTrue(request.query.get('allowWatchBookmarks'));
  let cursor = beginsWithState ? cluster.visibleRevision : asked;
  const stream = exchange.stream('application/json');

  function send(type: ChangeType | 'BOOKMARK' | 'ERROR', object: unknown): void {
    if (stream.isOpen()) stream.line(JSON.stringify({ type, object }));
  }

  function sendObject(type: ChangeType, object: KubeObject): void {
    const { resourceVersion } = object.metadata;
    send(type, wantsTable(request) ? tableOf(kind, [object], clock.now(), { resourceVersion }) : object);
  }

  function sendBookmark(revision = cluster.visibleRevision, annotations?: Record<string, string>): void {
    const metadata = { resourceVersion: String(revision), creationTimestamp: null, annotations };
    send('BOOKMARK', { kind: kind.kind, apiVersion: groupVersion(kind.group), metadata });
  }

  /** Sends every change after the cursor, up to the cluster's horizon. */
  function sendChanges(): void {
    const changes = since(log, cursor);
    if (changes === 'expired') {
      send('ERROR', tooOld(cursor, log.compactedTo));
      if (stream.isOpen()) stream.end();
      return;
    }
    for (const change of changes) {
      if (change.revision > cluster.horizon) return;
      cursor = change.revision;
      const frame = change.resource === kind.plural ? seenThrough(change, matches) : undefined;
      if (frame !== undefined) sendObject(frame.type, frame.object);
    }
  }

  const state = beginsWithState ? stateAt(log, cursor) : 'expired';
  if (state !== 'expired') for (const [, object] of select(state, kind.plural, matches)) sendObject('ADDED', object);
  if (isStreamingList && allowsBookmarks) sendBookmark(cursor, { 'k8s.io/initial-events-end': 'true' });
  stream.onClose(cluster.onChange(sendChanges));
  sendChanges();
  endInTime(cluster, stream, allowsBookmarks ? sendBookmark : undefined);
  cluster.player.watched(kind.plural);
}

/** Without `sendBookmark`, the client wants none. */
function endInTime({ clock, bookmarkMs }: Cluster, stream: Stream, sendBookmark?: () => void): void {
  const lastsMs = (numberIn(stream.exchange.request.query, 'timeoutSeconds') || defaultTimeoutSeconds) * 1000;
  const cancels = [clock.setTimeout(() => stream.end(), lastsMs)];
  stream.onClose(() => cancels.forEach((cancel) => cancel()));
  if (!sendBookmark) return;
  const repeat = (): void => {
    cancels[1] = clock.setTimeout(() => {
      sendBookmark();
      repeat();
    }, bookmarkMs);
  };
  repeat();
  if (lastsMs > 2 * bookmarkBeforeEndMs) cancels[2] = clock.setTimeout(sendBookmark, lastsMs - bookmarkBeforeEndMs);
}

function checkStreamingList(request: ApiRequest): boolean {
  if (!request.query.has('sendInitialEvents')) return false;
  if (request.query.get('resourceVersionMatch') !== 'NotOlderThan') {
    throw invalid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  return isTrue(request.query.get('sendInitialEvents'));
}

/** A change as a watch with a selector shows it: objects appear and disappear as they start and stop matching. */
function seenThrough(change: Change, matches: Selector): { type: ChangeType; object: KubeObject } | undefined {
  const { type, before, object } = change;
  const matchedBefore = before !== undefined && matches(before);
  if (type !== 'DELETED' && matches(object)) return { type: matchedBefore ? 'MODIFIED' : 'ADDED', object };
  if (!matchedBefore) return undefined;
  // The last state that matched, with the revision of the change that ended it.
  const { resourceVersion } = object.metadata;
  return {
    type: 'DELETED',
    object: type === 'DELETED' ? object : { ...before, metadata: { ...before.metadata, resourceVersion } },
  };
}
