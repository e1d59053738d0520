import type { Playback } from '../cluster.ts';
import { type Kind, isRecord, recordsAt, textAt, valueAt, type KubeObject } from '../data/kube-object.ts';
import { isTrue, numberIn, type KubeRequest } from '../http/api-request.ts';
import type { Call, Stream } from '../http/exchange.ts';
import { stamped, type ContainerLog, type WrittenLine } from '../play/prepare.ts';
import { parseStamp } from '../clock.ts';

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
