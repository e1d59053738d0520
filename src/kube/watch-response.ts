/** One watch response, line by line, and what ends it. */
import { asObject, metadataOf } from '../model/observe/read.ts';
import type { Cluster, StreamedResponse } from './cluster.ts';
import type { Outcome } from './decide.ts';
import { parseJson } from './http/body.ts';
import { nextLineOf, takeLines, type LineEvent, type NextLine } from './lines.ts';
import { isForeign, keyOf, type WatchTarget } from './resource-path.ts';
import { mostLineBytes } from './server-errors.ts';
import { checkSilence, createSilence } from './silence.ts';
import { isNewer, readRefusal, versionOf, type Refusal } from './status.ts';
import { doubtBookmark, reportList, resetFailures, type Position, type StreamContext } from './watch-position.ts';

/** ms after which a watch has lived, though it brought nothing: longer than any wait between two of them. */
const longLifeMs = 6000;

/** All lines of one watch response, until it ends or is found dead. `initial`: it begins with the whole state. */
export async function followWatch(
  context: StreamContext,
  response: StreamedResponse,
  { initial }: { initial: boolean },
): Promise<Outcome> {
  const { cluster, position } = context;
  const outcome = await readResponse(context, response, initial);
  if (outcome.kind === 'refused') {
    doubtBookmark(position, outcome.refusal);
    if (outcome.refusal.status === 401 && !position.renewed && (await response.renew())) return { kind: 'renewed' };
  }
  // A stream that was dead, or ahead of its server, does not reset the backoff.
  const hasLived = cluster.env.now() - response.at >= longLifeMs && !['dead', 'ahead'].includes(outcome.kind);
  if (hasLived && !initial) Object.assign(position, { failures: 0, relists: 0 });
  return outcome;
}

async function readResponse(context: StreamContext, response: StreamedResponse, initial: boolean): Promise<Outcome> {
  const { env } = context.cluster;
  const lines = takeLines(response.body, { mostBytes: mostLineBytes, onLong: 'stop', now: () => env.now() });
  const next = nextLineOf(lines, env);
  try {
    if (initial) {
      const outcome = await readInitialState(context, next, response.sentAt);
      if (outcome !== undefined) return outcome;
    }
    context.health.flows();
    return await readChanges(context, next);
  } finally {
    response.body.destroy();
  }
}

/** ms without the end mark of a streaming list, after which the server is taken for one that gives none. */
const longestBeforeEndMark = {
  /** A server that knows streaming lists sends the end mark at once. */
  silence: 1000,
  /** The same where another stream has already been given one. */
  knownSilence: 15_000,
  /** Lines that go on and on without it: a server that took no notice, and a busy collection. */
  inAll: 20_000,
};

/** The whole state, as one list: up to the end mark of a streaming list. */
async function readInitialState(context: StreamContext, next: NextLine, sentAt: number): Promise<Outcome | undefined> {
  const { cluster, signal } = context;
  const { env, memory } = cluster;
  const state = new Map<string, unknown>();
  const until = env.now() + longestBeforeEndMark.inAll;
  for (;;) {
    const { knownSilence, silence } = longestBeforeEndMark;
    const event = await next(memory.streamingLists === 'given' ? knownSilence : silence, signal);
    if (event === undefined || env.now() > until) return signal.aborted ? { kind: 'ended' } : withheld(cluster);
    // Over, in order, before it began: a list shows whether there is a Kubernetes API at all.
    if (event.kind === 'end' && event.clean && state.size === 0) return withheld(cluster);
    if (event.kind !== 'line') return outcomeOf(event);
    const line = readWatchLine(event.bytes);
    if (line.kind === 'malformed') return { kind: state.size === 0 ? 'foreign' : 'cut' };
    if (line.kind === 'error')
      return [400, 422].includes(line.refusal.status) ? withheld(cluster) : refusedInside(line);
    if (line.kind === 'change') {
      // Changes while the state is still being sent are a part of it.
      if (line.change === 'DELETED') state.delete(keyOf(line.object));
      else state.set(keyOf(line.object), line.object);
    } else if (line.initialEnd) {
      const { resourceVersion } = line;
      if (resourceVersion === undefined) return withheld(cluster);
      memory.streamingLists = 'given';
      const objects = [...state.values()];
      return reportList(context, { resourceVersion, objects, sentAt, at: event.at });
    }
  }
}

/** The other streams need not try it again. */
function withheld(cluster: Cluster): Outcome {
  cluster.memory.streamingLists = 'withheld';
  return { kind: 'no-streaming-list' };
}

async function readChanges(context: StreamContext, next: NextLine): Promise<Outcome> {
  const { cluster, target, position, signal, health } = context;
  const silence = createSilence(cluster.env, health);
  for (;;) {
    health.sure(position.goodAt);
    if (health.doubted.aborted && isObjectGone(target, position)) markWhole(context);
    const isDoubted = health.doubted.aborted && !position.whole;
    const event = await next(silence.patience(isDoubted), health.doubted.aborted ? signal : health.doubted);
    if (signal.aborted) return { kind: 'ended' };
    // Doubted only now: a stream whose object is gone needs no question.
    const isNewDoubt = health.doubted.aborted && !isDoubted && !position.whole;
    if (event === undefined && (silence.isTooEarly() || isNewDoubt)) continue;
    const found = event ?? (await checkSilence(context, next));
    switch (found.kind) {
      case 'alive':
        silence.answered();
        if (isDoubted) markWhole(context);
        break;
      case 'unanswered':
        silence.unanswered(position.goodAt, found.retryAfterMs);
        break;
      case 'dead':
      case 'ahead':
        return { kind: found.kind };
      case 'line': {
        reportSlowLine(context, found);
        const outcome = handleLine(context, readWatchLine(found.bytes), found.at);
        if (outcome !== undefined) return outcome;
        silence.broken();
        break;
      }
      default:
        return outcomeOf(found);
    }
  }
}

/** The object is gone: whatever else the stream may bring is about another one. */
const isObjectGone = ({ name }: WatchTarget, { whole, keys }: Position): boolean =>
  name !== undefined && keys.size === 0 && !whole;

function markWhole({ position, health }: StreamContext): void {
  position.whole = true;
  health.whole();
}

/** ms from the first byte of a line to its last; and between two lines of one burst. */
const [slowLineMs, sameBurstMs] = [250, 50];

/** What a slow link brings is as old as the first line of the burst: those behind it waited for its bytes. */
function reportSlowLine(
  { target, position, deliver }: StreamContext,
  { at, since }: Extract<LineEvent, { kind: 'line' }>,
): void {
  const { burst } = position;
  const isSame = burst !== undefined && since - burst.until <= sameBurstMs;
  position.burst = { since: isSame ? burst.since : since, until: at };
  if (at - since > slowLineMs) deliver({ kind: 'resumed', at, stream: target.stream, since: position.burst.since });
}

/** Delivers one line, then moves the cursor. */
function handleLine({ target, position, deliver }: StreamContext, line: WatchLine, at: number): Outcome | undefined {
  if (line.kind === 'malformed') return { kind: 'cut' };
  if (line.kind === 'error') return refusedInside(line);
  if (line.kind === 'change' && isForeign(target, line.object)) return undefined;
  const { resourceVersion } = line;
  if (resourceVersion === undefined) return line.kind === 'bookmark' ? undefined : { kind: 'unversioned' };
  // A server that is behind the one we saw before repeats what we know; the cursor never goes back behind that.
  if (isNewer(position.received, resourceVersion)) return undefined;
  if (line.kind === 'change') {
    deliver({ kind: 'changed', at, stream: target.stream, change: line.change, object: line.object });
    position.keys[line.change === 'DELETED' ? 'delete' : 'add'](keyOf(line.object));
    Object.assign(position, { received: resourceVersion, newest: resourceVersion, sureAt: at });
  }
  Object.assign(position, { resourceVersion, goodAt: at });
  resetFailures(position);
  return undefined;
}

/** What an ERROR line inside a response says. */
const refusedInside = ({ refusal }: Extract<WatchLine, { kind: 'error' }>): Outcome => ({
  kind: 'refused',
  refusal,
  frame: true,
  verb: 'watch',
});

/** Why there is no line. */
function outcomeOf(event: Exclude<LineEvent, { kind: 'line' }>): Outcome {
  if (event.kind === 'oversized') return { kind: 'oversized', verb: 'watch' };
  return { kind: event.clean ? 'ended' : 'cut' };
}

/** One line of a watch response, as far as the loop has to distinguish lines. */
type WatchLine =
  | { kind: 'change'; change: 'ADDED' | 'MODIFIED' | 'DELETED'; object: unknown; resourceVersion: string | undefined }
  /** `initialEnd`: the state that a streaming list began with is complete. */
  | { kind: 'bookmark'; resourceVersion: string | undefined; initialEnd: boolean }
  | { kind: 'error'; refusal: Refusal }
  /** No JSON, or no line of a watch. */
  | { kind: 'malformed' };

const initialEndMark = 'k8s.io/initial-events-end';

/** Total: whatever the bytes are, it is one of the four. */
function readWatchLine(bytes: Buffer): WatchLine {
  const line = asObject(parseJson(bytes.toString('utf8')));
  const object = line['object'];
  switch (line['type']) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { kind: 'change', change: line['type'], object, resourceVersion: versionOf(object) };
    case 'BOOKMARK': {
      const annotations = asObject(metadataOf(object)['annotations']);
      const initialEnd = annotations[initialEndMark] === 'true';
      return { kind: 'bookmark', resourceVersion: versionOf(object), initialEnd };
    }
    case 'ERROR': {
      const code = asObject(object)['code'];
      return { kind: 'error', refusal: readRefusal(typeof code === 'number' ? code : 500, object) };
    }
    default:
      return { kind: 'malformed' };
  }
}
