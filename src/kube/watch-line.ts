import { asObject } from '../model/observe/read.ts';
import type { RawObservation } from '../model/observation.ts';
import { tellList, type StreamContext, type Ending, type Position } from './watch-position.ts';
import type { Cluster } from './cluster.ts';
import type { Outcome } from './decide.ts';
import { parseJson } from './http/body.ts';
import type { LineEvent, Lines } from './lines.ts';
import { versionOf, readRefusal, type Refusal } from './status.ts';
import { within } from './env.ts';
import { keyOf, type WatchTarget } from './resource-path.ts';

/** One line of a watch response, as far as the loop has to distinguish lines. */
export type WatchLine =
  | { kind: 'change'; change: 'ADDED' | 'MODIFIED' | 'DELETED'; object: unknown; resourceVersion: string | undefined }
  /** `initialEnd`: the state that a streaming list began with is complete. */
  | { kind: 'bookmark'; resourceVersion: string | undefined; initialEnd: boolean }
  | { kind: 'error'; refusal: Refusal }
  /** No JSON, or no line of a watch. */
  | { kind: 'malformed' };

const initialEndMark = 'k8s.io/initial-events-end';

/** Total: whatever the bytes are, it is one of the four. */
export function readWatchLine(bytes: Buffer): WatchLine {
  const line = asObject(parseJson(bytes.toString('utf8')));
  const object = line['object'];
  switch (line['type']) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { kind: 'change', change: line['type'], object, resourceVersion: versionOf(object) };
    case 'BOOKMARK': {
      const annotations = asObject(asObject(asObject(object)['metadata'])['annotations']);
      return {
        kind: 'bookmark',
        resourceVersion: versionOf(object),
        initialEnd: annotations[initialEndMark] === 'true',
      };
    }
    case 'ERROR': {
      const code = asObject(object)['code'];
      return { kind: 'error', refusal: readRefusal(typeof code === 'number' ? code : 500, object) };
    }
    default:
      return { kind: 'malformed' };
  }
}

/** One watch response, line by line with patience, and what ends it. */

export interface Reader extends Pick<StreamContext, 'cluster' | 'signal' | 'health'> {
  next: Pull;
}

/** The next line, or `undefined` when none came in time; a line that comes late is not lost. */
export type Pull = (cluster: Cluster, ms: number, signal: AbortSignal) => Promise<LineEvent | undefined>;

export const createPull =
  ({ left, more }: Lines): Pull =>
  async ({ env }, ms, signal) => {
    const line = left();
    if (line !== undefined) return line;
    await within(env, more(), ms, signal);
    return left();
  };

/** What an ERROR frame inside a stream says. */
export function refusedInside({ refusal }: Extract<WatchLine, { kind: 'error' }>): Ending {
  const { status, retryAfterMs } = refusal;
  return {
    outcome: { kind: 'refused', status, frame: true, retryAfterMs },
    refusal,
    verb: 'watch',
  };
}

/** Why there is no line. */
export function outcomeOf(event: Exclude<LineEvent, { kind: 'line' }>): Outcome {
  if (event.kind === 'oversized') return event;
  return { kind: event.clean ? 'ended' : 'cut' };
}

export function end(outcome: Outcome): Ending {
  return { outcome, verb: 'watch' };
}

/** A watch that begins with the whole state (streaming lists), or a server that sends none. */

/** ms without the end mark, and what that means. */
const quiet = {
  /** A server that knows streaming lists sends the end mark at once. */
  beforeEndMark: 1000,
  /** The same where another stream has already been given one. */
  beforeKnownEndMark: 15_000,
  /** Lines that go on and on without it: a server that took no notice, and a busy collection. */
  beforeAnyEndMark: 20_000,
};

/** The whole state, as one list: up to the end mark of a streaming list. */
export async function* readInitialState(
  { cluster, signal, next }: Reader,
  target: WatchTarget,
  position: Position,
  sentAt: number,
): AsyncGenerator<RawObservation, Ending | undefined> {
  const state = new Map<string, unknown>();
  const until = cluster.env.now() + quiet.beforeAnyEndMark;
  for (;;) {
    const known = cluster.memory.streamingLists === 'given';
    const event = await next(cluster, known ? quiet.beforeKnownEndMark : quiet.beforeEndMark, signal);
    if (event === undefined || cluster.env.now() > until)
      return signal.aborted ? end({ kind: 'ended' }) : withheld(cluster);
    // Over, in order, before it began: a list shows whether there is a Kubernetes API at all.
    if (event.kind === 'end' && event.clean && state.size === 0) return withheld(cluster);
    if (event.kind !== 'line') return end(outcomeOf(event));
    const line = readWatchLine(event.bytes);
    if (line.kind === 'malformed') return end({ kind: state.size === 0 ? 'foreign' : 'cut' });
    if (line.kind === 'error')
      return [400, 422].includes(line.refusal.status) ? withheld(cluster) : refusedInside(line);
    if (line.kind === 'change') {
      keep(state, line);
    } else if (line.initialEnd) {
      if (line.resourceVersion === undefined) return withheld(cluster);
      cluster.memory.streamingLists = 'given';
      const list = {
        resourceVersion: line.resourceVersion,
        objects: [...state.values()],
        sentAt,
        at: event.at,
      };
      return yield* tellList(target, position, list);
    }
  }
}

/** The other streams need not try it again. */
function withheld(cluster: Cluster): Ending {
  cluster.memory.streamingLists = 'withheld';
  return end({ kind: 'no-streaming-list' });
}

/** Changes while the state is still being sent are a part of it. */
function keep(state: Map<string, unknown>, { change, object }: Extract<WatchLine, { kind: 'change' }>): void {
  const key = keyOf(object);
  if (change === 'DELETED') state.delete(key);
  else state.set(key, object);
}
