/** Reads one watch response, line by line, until something ends it. */
import { asObject, metadataOf } from '../model/observe/read.ts';
import type { Cluster, StreamedResponse } from './cluster.ts';
import type { AttemptEnd } from './decide.ts';
import { parseJson, takeLines, type LineEvent, type NextLine } from './http/body.ts';
import { isForeign, keyOf } from './resource-path.ts';
import { maxWatchLineBytes } from './server-errors.ts';
import { checkSilence, createSilence } from './silence.ts';
import { isNewer, readRefusal, versionOf } from './status.ts';
import { doubtBookmark, reportList, resetFailures, type StreamContext } from './watch-position.ts';

/** Reads a watch response until it ends or is found dead. `initial`: it begins with the whole state. */
export async function followWatch(
  context: StreamContext,
  response: StreamedResponse,
  { initial }: { initial: boolean },
): Promise<AttemptEnd> {
  const { cluster, position } = context;
  const next = takeLines(response.body, cluster.env, maxWatchLineBytes);
  const read = async (): Promise<AttemptEnd> =>
    (initial ? await readInitialState(context, next, response.sentAt) : undefined) ?? readChanges(context, next);
  const outcome = await read().finally(() => response.body.destroy());
  if (outcome.kind === 'refused') {
    doubtBookmark(position, outcome.refusal);
    if (outcome.refusal.status === 401 && !position.renewed && (await response.renew())) {
      position.renewed = true;
      return { kind: 'ended' };
    }
  }
  // Longer than any wait between two watches: resets the backoff even without a line, unless the stream was dead.
  const lastedLong = cluster.env.now() - response.at >= 6000 && !['dead', 'ahead'].includes(outcome.kind);
  if (lastedLong && !initial) Object.assign(position, { failures: 0, relists: 0 });
  return outcome;
}

/** Reads the whole state, up to the end mark of a streaming list, and reports it as one list. */
async function readInitialState(
  context: StreamContext,
  next: NextLine,
  sentAt: number,
): Promise<AttemptEnd | undefined> {
  const { cluster, signal } = context;
  const { keep = (object) => object } = context.target;
  const { env, memory } = cluster;
  const state = new Map<string, unknown>();
  // With lines, but no end mark: the server ignored the parameter, and the collection is busy.
  const until = env.now() + 20_000;
  for (;;) {
    // A server that supports streaming lists sends the end mark at once, unless it is busy.
    const event = await next(memory.streamingLists === 'supported' ? 15_000 : 1000, signal);
    if (event === undefined || env.now() > until) return signal.aborted ? { kind: 'ended' } : noStreamingLists(cluster);
    // It ended normally, and empty: a plain list shows whether this is a Kubernetes API at all.
    if (event.kind === 'end' && event.clean && state.size === 0) return noStreamingLists(cluster);
    if (event.kind === 'end') return endOf(event);
    const line = readWatchLine(event);
    if (line.kind === 'failed') {
      const { outcome } = line;
      if (outcome.kind === 'cut' && state.size === 0) return { kind: 'foreign' };
      const isUnsupported = outcome.kind === 'refused' && [400, 422].includes(outcome.refusal.status);
      return isUnsupported ? noStreamingLists(cluster) : outcome;
    }
    if (line.kind === 'change') {
      // Changes before the end mark are part of the state.
      if (line.change === 'DELETED') state.delete(keyOf(line.object));
      else state.set(keyOf(line.object), keep(line.object));
    } else if (line.initialEnd) {
      const { resourceVersion } = line;
      if (resourceVersion === undefined) return noStreamingLists(cluster);
      memory.streamingLists = 'supported';
      const objects = [...state.values()];
      return reportList(context, { resourceVersion, objects, sentAt, at: event.at });
    }
  }
}

/** The other streams do not need to try it again. */
export function noStreamingLists(cluster: Cluster): AttemptEnd {
  cluster.memory.streamingLists = 'unsupported';
  return { kind: 'no-streaming-list' };
}

async function readChanges(context: StreamContext, next: NextLine): Promise<AttemptEnd> {
  const { cluster, target, position, signal, health } = context;
  const silence = createSilence(cluster.env, health, target.stream === 'pod');
  health.flows();
  for (;;) {
    health.sure(position.completeUntil);
    // If the object is gone, anything that still comes is about another object.
    const isGone = target.name !== undefined && position.keys.size === 0;
    if (health.doubted.aborted && !position.whole && (isGone || health.isOver?.())) markWhole(context);
    const isDoubted = health.doubted.aborted && !position.whole;
    const event = await next(silence.waitMs(isDoubted), health.doubted.aborted ? signal : health.doubted);
    if (signal.aborted) return { kind: 'ended' };
    // The doubt is new: first check whether the object is gone, since that needs no question.
    const isNewDoubt = health.doubted.aborted && !isDoubted && !position.whole;
    if (event === undefined && isNewDoubt) continue;
    const found = event ?? (await checkSilence(context, next));
    switch (found.kind) {
      case 'alive':
        silence.answered();
        if (isDoubted) markWhole(context);
        break;
      case 'unanswered':
        silence.unanswered(position.completeUntil, found.retryAfterMs);
        break;
      case 'dead':
      case 'ahead':
        return { kind: found.kind };
      case 'line': {
        reportSlowLine(context, found);
        const outcome = handleLine(context, readWatchLine(found), found.at);
        if (outcome !== undefined) return outcome;
        silence.lineCame();
        break;
      }
      case 'end':
        return endOf(found);
    }
  }
}

function markWhole({ position, health }: StreamContext): void {
  position.whole = true;
  health.whole();
}

/** On a slow link each line may be as old as the first line of its burst: it waited for the bytes before it. */
function reportSlowLine(
  { target, position, deliver }: StreamContext,
  { at, since }: Extract<LineEvent, { kind: 'line' }>,
): void {
  const { burst } = position;
  const isSame = burst !== undefined && since - burst.until <= 50;
  position.burst = { since: isSame ? burst.since : since, until: at };
  if (at - since > 250) deliver({ kind: 'resumed', at, stream: target.stream, since: position.burst.since });
}

/** Delivers one line, then moves the position. */
function handleLine({ target, position, deliver }: StreamContext, line: WatchLine, at: number): AttemptEnd | undefined {
  if (line.kind === 'failed') return line.outcome;
  if (line.kind === 'change' && isForeign(target, line.object)) return undefined;
  const { resourceVersion } = line;
  if (resourceVersion === undefined) return line.kind === 'bookmark' ? undefined : { kind: 'unversioned' };
  // A server that is behind an earlier one repeats what is known; the position never goes back behind that.
  if (isNewer(position.received, resourceVersion)) return undefined;
  if (line.kind === 'change') {
    deliver({ kind: 'changed', at, stream: target.stream, change: line.change, object: line.object });
    position.keys[line.change === 'DELETED' ? 'delete' : 'add'](keyOf(line.object));
    Object.assign(position, { received: resourceVersion, newest: resourceVersion, provenUntil: at });
  }
  Object.assign(position, { resourceVersion, completeUntil: at });
  resetFailures(position);
  return undefined;
}

const endOf = ({ clean }: Extract<LineEvent, { kind: 'end' }>): AttemptEnd => ({ kind: clean ? 'ended' : 'cut' });

/** One line of a watch response, with the distinctions that the loop needs. */
type WatchLine =
  | { kind: 'change'; change: 'ADDED' | 'MODIFIED' | 'DELETED'; object: unknown; resourceVersion: string | undefined }
  /** `initialEnd`: the end mark of a streaming list: its initial state is complete. */
  | { kind: 'bookmark'; resourceVersion: string | undefined; initialEnd: boolean }
  /** An ERROR line, or a line that cannot be read. */
  | { kind: 'failed'; outcome: AttemptEnd };

/** Never throws, whatever the bytes are. */
function readWatchLine({ bytes, cut }: Extract<LineEvent, { kind: 'line' }>): WatchLine {
  if (cut) return { kind: 'failed', outcome: { kind: 'oversized', verb: 'watch' } };
  const line = asObject(parseJson(bytes.toString('utf8')));
  const object = line['object'];
  switch (line['type']) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { kind: 'change', change: line['type'], object, resourceVersion: versionOf(object) };
    case 'BOOKMARK': {
      const annotations = asObject(metadataOf(object)['annotations']);
      const initialEnd = annotations['k8s.io/initial-events-end'] === 'true';
      return { kind: 'bookmark', resourceVersion: versionOf(object), initialEnd };
    }
    case 'ERROR': {
      const code = asObject(object)['code'];
      const refusal = readRefusal(typeof code === 'number' ? code : 500, object);
      return { kind: 'failed', outcome: { kind: 'refused', refusal, isErrorLine: true, verb: 'watch' } };
    }
    default:
      return { kind: 'failed', outcome: { kind: 'cut' } };
  }
}
