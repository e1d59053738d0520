import type { Playback } from '../cluster.ts';
import { groupVersion, type Kind } from '../data/kinds.ts';
import type { ChangeType, KubeObject } from '../data/kube-object.ts';
import { select, since, stateAt, type Change } from '../data/log.ts';
import { badRequest, continueExpired, invalidOption, listExpired, tooFarAhead, tooOld } from '../data/status.ts';
import { type Selector, isTrue, numberIn, revisionIn, selectorOf, type KubeRequest } from '../http/api-request.ts';
import type { Call, Stream } from '../http/exchange.ts';
import { tableOf, wantsTable } from './table.ts';

/** Serves GET of one object. */
export function serveGet(cluster: Playback, exchange: Call, kind: Kind): void {
  const object = cluster.requested(kind, exchange.request);
  exchange.json(200, wantsTable(exchange.request) ? tableOf(kind, [object], cluster.clock.now()) : object);
}

/** Serves LIST, whole or in pages. The continue token carries the revision that all pages show. */
export function serveList(cluster: Playback, exchange: Call, kind: Kind): void {
  const { request } = exchange;
  const token = readToken(request.query.get('continue'));
  const revision = token?.revision ?? revisionToRead(cluster, request);
  const state = stateAt(cluster.log, revision);
  if (state === 'expired') throw token === undefined ? listExpired() : continueExpired();
  const found = select(state, kind.plural, selectorOf(request, kind));
  const all = token === undefined ? found : found.filter(([key]) => key > token.after);
  const page = all.slice(0, numberIn(request.query, 'limit') || all.length);
  const rest = all.length - page.length;
  const next = Buffer.from(`${revision} ${page.at(-1)?.[0] ?? ''}`).toString('base64url');
  const metadata = {
    resourceVersion: String(revision),
    ...(rest > 0 && { continue: next, remainingItemCount: rest }),
  };
  const objects = page.map(([, object]) => object);
  if (wantsTable(request)) return exchange.json(200, tableOf(kind, objects, cluster.clock.now(), metadata));
  const items = objects.map(asItem);
  exchange.json(200, { kind: `${kind.kind}List`, apiVersion: groupVersion(kind.group), metadata, items });
}

/** Which revision a list shows (kubernetes.io/docs/reference/using-api/api-concepts, semantics for get and list). */
function revisionToRead(cluster: Playback, request: KubeRequest): number {
  const current = cluster.visibleRevision;
  const asked = revisionIn(request);
  const match = request.query.get('resourceVersionMatch') ?? '';
  if (asked === undefined || asked === 0) return current;
  if (asked > current) throw tooFarAhead(asked, current);
  // Without resourceVersionMatch, a limit makes the requested revision exact.
  const isExact = match === 'Exact' || (match === '' && numberIn(request.query, 'limit') !== undefined);
  return isExact ? asked : current;
}

/** `after`: the storage key of the last object of the page before. */
function readToken(text: string | null): { revision: number; after: string } | undefined {
  if (text === null || text === '') return undefined;
  const [, revision, after] = /^(\d+) (.+)$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (after !== undefined) return { revision: Number(revision), after };
  throw badRequest('continue key is not valid: invalid character');
}

/** Items of a list carry neither kind nor apiVersion. */
const asItem = ({ kind: _, apiVersion: __, ...item }: KubeObject): Omit<KubeObject, 'kind' | 'apiVersion'> => item;

/** Serves WATCH: the current objects if requested, then each change as it happens. */
export function serveWatch(cluster: Playback, exchange: Call, kind: Kind): void {
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

/** As often as a real server sends one. */
const bookmarkMs = 60_000;

/** A real server ends a watch without timeoutSeconds after 30 to 60 minutes. Without `sendBookmark`, the client wants none. */
function endInTime({ clock }: Playback, stream: Stream, sendBookmark?: () => void): void {
  const lastsMs = (numberIn(stream.exchange.request.query, 'timeoutSeconds') || 1800) * 1000;
  stream.onClose(clock.setTimeout(() => stream.end(), lastsMs));
  if (!sendBookmark) return;
  const sendThenWait = (): void => {
    sendBookmark();
    cancel = clock.setTimeout(sendThenWait, bookmarkMs);
  };
  let cancel = clock.setTimeout(sendThenWait, bookmarkMs);
  stream.onClose(() => cancel());
}

function checkStreamingList(request: KubeRequest): boolean {
  if (!request.query.has('sendInitialEvents')) return false;
  if (request.query.get('resourceVersionMatch') !== 'NotOlderThan') {
    throw invalidOption(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  }
  return isTrue(request.query.get('sendInitialEvents'));
}

/** A change as a watch with a selector shows it: objects appear and disappear as they start and stop matching. */
function seenThrough(change: Change, matches: Selector): { type: ChangeType; object: KubeObject } | undefined {
  const { type, before, object } = change;
  const matchedBefore = before !== undefined && matches(before);
  if (type !== 'DELETED' && matches(object)) return { type: matchedBefore ? 'MODIFIED' : 'ADDED', object };
  if (!matchedBefore) return undefined;
  if (type === 'DELETED') return { type, object };
  // The last state that matched, with the revision of the change that ended it.
  const { resourceVersion } = object.metadata;
  return { type: 'DELETED', object: { ...before, metadata: { ...before.metadata, resourceVersion } } };
}
