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
  const { request } = exchange;
  const matches = selectorOf(request, kind);
  const isStreamingList = checkStreamingList(request);
  const asked = revisionIn(request);
  const beginsWithState = isStreamingList || asked === undefined || asked === 0;
  const from = beginsWithState ? visible(cluster) : asked;
  const stream = exchange.stream('application/json');
  if (beginsWithState) sendState(cluster, stream, kind, matches, from);
  if (isStreamingList && isTrue(request.query.get('allowWatchBookmarks'))) {
    sendFrame(stream, 'BOOKMARK', bookmark(kind, from, { 'k8s.io/initial-events-end': 'true' }));
  }
  follow(cluster, stream, kind, matches, from);
  endInTime(cluster, stream, kind);
  cluster.player.watched(kind.plural);
}

const visible = (cluster: Cluster): number => Math.min(cluster.log.revision, cluster.horizon);

function checkStreamingList(request: ApiRequest): boolean {
  if (!request.query.has('sendInitialEvents')) return false;
  if (request.query.get('resourceVersionMatch') !== 'NotOlderThan') {
    throw invalid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  return isTrue(request.query.get('sendInitialEvents'));
}

function sendState(cluster: Cluster, stream: Stream, kind: Kind, matches: Selector, revision: number): void {
  const state = stateAt(cluster.log, revision);
  if (state === 'expired') return;
  for (const [, object] of select(state, kind.plural, matches)) sendObject(cluster, stream, kind, 'ADDED', object);
}

/** Sends every change after a revision, now and later, up to the cluster's horizon. */
function follow(cluster: Cluster, stream: Stream, kind: Kind, matches: Selector, from: number): void {
  let cursor = from;
  const pump = () => {
    const changes = since(cluster.log, cursor);
    if (changes === 'expired') return expire(cluster, stream, cursor);
    for (const change of changes) {
      if (change.revision > cluster.horizon) return;
      cursor = change.revision;
      const frame = change.resource === kind.plural ? seenThrough(change, matches) : undefined;
      if (frame !== undefined) sendObject(cluster, stream, kind, frame.type, frame.object);
    }
  };
  stream.onClose(cluster.onChange(pump));
  pump();
}

function expire(cluster: Cluster, stream: Stream, cursor: number): void {
  if (!stream.isOpen()) return;
  sendFrame(stream, 'ERROR', tooOld(cursor, cluster.log.compactedTo));
  stream.end();
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

function endInTime(cluster: Cluster, stream: Stream, kind: Kind): void {
  const { query } = stream.exchange.request;
  const lastsMs = (numberIn(query, 'timeoutSeconds') || defaultTimeoutSeconds) * 1000;
  const wantsBookmarks = isTrue(query.get('allowWatchBookmarks'));
  const sendBookmark = () => sendFrame(stream, 'BOOKMARK', bookmark(kind, visible(cluster)));
  const cancels = [cluster.clock.setTimeout(() => stream.end(), lastsMs)];
  const repeat = () => {
    cancels[1] = cluster.clock.setTimeout(() => {
      sendBookmark();
      repeat();
    }, cluster.bookmarkMs);
  };
  if (wantsBookmarks) repeat();
  if (wantsBookmarks && lastsMs > 2 * bookmarkBeforeEndMs)
    cancels[2] = cluster.clock.setTimeout(sendBookmark, lastsMs - bookmarkBeforeEndMs);
  stream.onClose(() => cancels.forEach((cancel) => cancel()));
}

function bookmark(kind: Kind, revision: number, annotations?: Record<string, string>): unknown {
  const metadata = { resourceVersion: String(revision), creationTimestamp: null, annotations };
  return { kind: kind.kind, apiVersion: groupVersion(kind), metadata };
}

function sendObject(cluster: Cluster, stream: Stream, kind: Kind, type: ChangeType, object: KubeObject): void {
  const { resourceVersion } = object.metadata;
  const isTable = wantsTable(stream.exchange.request);
  sendFrame(stream, type, isTable ? tableOf(kind, [object], cluster.clock.now(), { resourceVersion }) : object);
}

function sendFrame(stream: Stream, type: ChangeType | 'BOOKMARK' | 'ERROR', object: unknown): void {
  if (stream.isOpen()) stream.line(JSON.stringify({ type, object }));
}
