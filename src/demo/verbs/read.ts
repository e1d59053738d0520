import type { Playback } from '../cluster.ts';
import {
  groupVersion,
  type Kind,
  type ChangeType,
  type KubeObject,
  numberAt,
  recordsAt,
  textAt,
  isRecord,
  valueAt,
} from '../data/kube-object.ts';
import { select, since, stateAt, type Change } from '../data/log.ts';
import { badRequest, continueExpired, invalidOption, listExpired, tooFarAhead, tooOld } from '../data/status.ts';
import { type Selector, isTrue, numberIn, selectorOf, type KubeRequest } from '../http/api-request.ts';
import type { Call, Stream } from '../http/exchange.ts';
import { stamped, type ContainerLog, type WrittenLine } from '../play/prepare.ts';
import { parseStamp } from '../clock.ts';

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
  const asked = numberIn(request.query, 'resourceVersion');
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
  const asked = numberIn(request.query, 'resourceVersion');
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
  const needed = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
  if (request.query.get('resourceVersionMatch') !== 'NotOlderThan') throw invalidOption('resourceVersionMatch', needed);
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

/** Whether the client wants what `kubectl get` prints (`Accept: application/json;as=Table;…`). */
const wantsTable = ({ headers }: Pick<KubeRequest, 'headers'>): boolean =>
  /\bas=Table\b/.test(String(headers.accept ?? ''));

/** A meta.k8s.io/v1 Table with a row for each object; `now` in milliseconds of the API server's clock. */
function tableOf(kind: Kind, objects: readonly KubeObject[], now: number, metadata: object = {}): object {
  const columns = columnsOf[kind.plural] ?? [nameColumn, ageColumn];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(({ name, priority = 0 }) => ({
      name,
      type: name === 'Restarts' ? 'integer' : 'string',
      format: name === 'Name' ? 'name' : '',
      description: '',
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}

interface Column {
  name: string;
  /** Columns with 1 are printed with `-o wide` only. */
  priority?: 1;
  cell: (object: KubeObject, now: number) => string | number;
}

const nameColumn: Column = { name: 'Name', cell: ({ metadata }) => metadata.name };
const ageColumn: Column = { name: 'Age', cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now) };

/** As in `kubernetes/pkg/printers/internalversion/printers.go`, for the kinds that a demo shows. */
const columnsOf: Record<string, Column[]> = {
  pods: [
    nameColumn,
    {
      name: 'Ready',
      cell: (pod) =>
        `${statusesOf(pod).filter((one) => one.ready === true).length}/${recordsAt(pod, 'spec.containers').length}`,
    },
    { name: 'Status', cell: podStatus },
    { name: 'Restarts', cell: (pod) => statusesOf(pod).reduce((sum, one) => sum + Number(one.restartCount ?? 0), 0) },
    ageColumn,
    { name: 'IP', priority: 1, cell: (pod) => textAt(pod, 'status.podIP') },
    { name: 'Node', priority: 1, cell: (pod) => textAt(pod, 'spec.nodeName') },
  ],
  deployments: [
    nameColumn,
    { name: 'Ready', cell: (one) => `${numberAt(one, 'status.readyReplicas')}/${numberAt(one, 'spec.replicas')}` },
    { name: 'Up-to-date', cell: (one) => String(numberAt(one, 'status.updatedReplicas')) },
    { name: 'Available', cell: (one) => String(numberAt(one, 'status.availableReplicas')) },
    ageColumn,
  ],
  events: [
    { name: 'Last Seen', cell: (event, now) => ageOf(textAt(event, 'lastTimestamp'), now) },
    { name: 'Type', cell: (event) => textAt(event, 'type') },
    { name: 'Reason', cell: (event) => textAt(event, 'reason') },
    { name: 'Object', cell: (event) => involvedObject(event) },
    { name: 'Message', cell: (event) => textAt(event, 'message') },
  ],
};

const involvedObject = (event: KubeObject): string =>
  `${textAt(event, 'involvedObject.kind').toLowerCase()}/${textAt(event, 'involvedObject.name')}`;

const statusesOf = (pod: KubeObject) => recordsAt(pod, 'status.containerStatuses');

/** The column STATUS: a deletion goes before a container's reason, which goes before the phase. */
function podStatus(pod: KubeObject): string {
  const phase = textAt(pod, 'status.phase');
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  if (pod.metadata.deletionTimestamp !== undefined && !isOver) return 'Terminating';
  const reasons = statusesOf(pod).map(
    ({ state }) => textAt(state, 'waiting.reason') || textAt(state, 'terminated.reason'),
  );
  return reasons.find((reason) => reason !== '') ?? (textAt(pod, 'status.reason') || phase);
}

/** `5s`, `3m`, `2h`, `4d`, as kubectl shortens an age. */
function ageOf(timestamp: string | undefined, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(timestamp ?? '')) / 1000));
  if (Number.isNaN(seconds)) return '<unknown>';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** Serves GET pods/NAME/log: the lines so far and, with `follow`, new lines until the stream's recorded end. */
export function serveLog(cluster: Playback, exchange: Call, kind: Kind): void {
  const { request } = exchange;
  const pod = cluster.requested(kind, request);
  const container = request.query.get('container') ?? textAt(recordsAt(pod, 'spec.containers')[0], 'name');
  const log = cluster.logOf(pod.metadata.name, container);
  const state = stateOf(pod, container);
  if (log.status !== 200 && state !== 'running')
    return log.refusal === undefined ? exchange.text(log.status, '') : exchange.json(log.status, log.refusal);
  const reads = readingOf(request, cluster.clock.now());
  const recent = log.lines.filter((line) => line.stamp >= reads.from);
  const past = recent.slice(Math.max(0, recent.length - reads.lines));
  // A restart of the kubelet ends a stream long before its container ends; the stream may then be opened again.
  const isOver = state === 'terminated' || (log.ended && state !== 'running');
  if (!isTrue(request.query.get('follow')) || isOver) {
    return exchange.text(200, past.map((line) => `${reads.show(line)}\n`).join(''));
  }
  const stream = exchange.stream('text/plain');
  follow(stream, log, past, reads);
  if (log.ended) stream.onClose(endWithPod(cluster, stream, pod));
}

/** `waiting`, `running` or `terminated`; undefined if the pod has no status for it. */
function stateOf(pod: KubeObject, container: string): string | undefined {
  const lists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];
  const statuses = lists.flatMap((list) => recordsAt(pod, `status.${list}`));
  const state = statuses.find((status) => status.name === container)?.state;
  return isRecord(state) ? Object.keys(state)[0] : undefined;
}

type Reading = ReturnType<typeof readingOf>;

function readingOf({ query }: KubeRequest, now: number) {
  const sinceSeconds = numberIn(query, 'sinceSeconds');
  const from = parseStamp(query.get('sinceTime') ?? '')?.at;
  return {
    show: isTrue(query.get('timestamps')) ? stamped : ({ text }: WrittenLine) => text,
    from: from ?? (sinceSeconds === undefined ? 0n : BigInt(Math.floor(now - sinceSeconds * 1000)) * 1_000_000n),
    lines: numberIn(query, 'tailLines') ?? Infinity,
  };
}

/** Sends the lines so far and all that come later, until the log ends. */
function follow(stream: Stream, log: ContainerLog, past: readonly WrittenLine[], reads: Reading): void {
  const send = (line: WrittenLine): void => {
    if (stream.isOpen()) stream.line(reads.show(line));
  };
  const reader = { line: send, end: () => stream.end() };
  past.forEach(send);
  log.readers.add(reader);
  stream.onClose(() => log.readers.delete(reader));
}

/** A stream that is opened again has no recorded end: it ends when the pod has finished or is gone. */
const endWithPod = (cluster: Playback, stream: Stream, { metadata }: KubeObject): (() => void) =>
  cluster.onChange(() => {
    const pod = cluster.get('pods', metadata.namespace, metadata.name);
    const phase = valueAt(pod, 'status.phase');
    if (pod?.metadata.uid !== metadata.uid || phase === 'Succeeded' || phase === 'Failed') stream.end();
  });
