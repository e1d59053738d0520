import type { Sighting } from '../trace/observation.ts';
import { askWhatIsNew } from './alive.ts';
import type { Around } from './around.ts';
import type { Cluster, Flow } from './cluster.ts';
import type { Outcome } from './decide.ts';
import type { LineEvent } from './lines.ts';
import type { Health } from './health.ts';
import { readLines } from './lines.ts';
import { isNewer } from './resource-version.ts';
import { within } from './surroundings.ts';
import type { WatchLine } from './watch-line.ts';
import { readWatchLine } from './watch-line.ts';
import type { Ending, Position } from './watch-position.ts';
import { doubtBookmark, isWell, retreat, tellList } from './watch-position.ts';
import type { WatchTarget } from './watch-target.ts';
import { isForeign } from './watch-target.ts';

/** More than etcd stores for one object, many times over. */
const mostLineBytes = 32 * 1024 * 1024;

/** ms without a line, and what silence of this length means. */
const quiet = {
  /** An open stream may be silent for minutes; now and then it is worth asking. */
  beforeAsking: 10_000,
  /** Somebody waits for the answer. */
  whenDoubted: 10,
  /** An answer that takes longer says nothing any more: it is asked again. */
  forAnswer: 3000,
  /** The answer was ahead: so long may the line itself still be under way. */
  grace: 1000,
  /** A server that knows streaming lists sends the end mark at once. */
  beforeEndMark: 1000,
  /** The same where another stream has already been given one. */
  beforeKnownEndMark: 15_000,
  /** Lines that go on and on without it: a server that took no notice, and a busy collection. */
  beforeAnyEndMark: 20_000,
};

/** ms after which a watch has lived, though it brought nothing: longer than any wait between two of them. */
const longLife = 6000;

/** All lines of one watch response, until it ends or is found dead. `initial`: it begins with the whole state. */
export async function* followWatch(
  around: Around,
  flow: Flow,
  how: { initial: boolean },
): AsyncGenerator<Sighting, Ending> {
  const { cluster, position } = around;
  const ending = yield* followLines(around, flow, how);
  const { outcome, refusal } = ending;
  if (refusal !== undefined) doubtBookmark(position, refusal);
  if (outcome.kind === 'refused' && outcome.status === 401 && !position.renewed && (await flow.renew()))
    return { ...ending, outcome: { kind: 'renewed' } };
  // What is dead or astray has lived in vain.
  const hasLived = cluster.surroundings.now() - flow.at >= longLife && !['dead', 'astray'].includes(outcome.kind);
  if (hasLived && !how.initial) Object.assign(position, { failures: 0, relists: 0 });
  return ending;
}

async function* followLines(
  around: Around,
  flow: Flow,
  { initial }: { initial: boolean },
): AsyncGenerator<Sighting, Ending> {
  const { cluster, target, position } = around;
  const lines = readLines(flow.body, {
    mostBytes: mostLineBytes,
    onLong: 'stop',
    now: () => cluster.surroundings.now(),
  });
  const reader: Reader = { ...around, next: createPull(lines) };
  try {
    if (initial) {
      const ending = yield* readInitialState(reader, target, position, flow.sentAt);
      if (ending !== undefined) return ending;
    }
    around.health.flows();
    return yield* readChanges(reader, target, position);
  } finally {
    flow.body.destroy();
  }
}

interface Reader extends Pick<Around, 'cluster' | 'signal' | 'health'> {
  next: Pull;
}

/** The next line, or `undefined` when none came in time; a line that comes late is not lost. */
type Pull = (cluster: Cluster, ms: number, signal: AbortSignal) => Promise<LineEvent | undefined>;

function createPull(lines: AsyncGenerator<LineEvent, void>): Pull {
  let pending: Promise<LineEvent> | undefined;
  return async (cluster, ms, signal) => {
    pending ??= lines.next().then(({ value }) => value ?? { kind: 'end', clean: true });
    const got = await within(cluster.surroundings, pending, ms, signal);
    if (got !== undefined) pending = undefined;
    return got?.value;
  };
}

async function* readInitialState(
  { cluster, signal, next }: Reader,
  target: WatchTarget,
  position: Position,
  sentAt: number,
): AsyncGenerator<Sighting, Ending | undefined> {
  const state = new Map<string, unknown>();
  const until = cluster.surroundings.now() + quiet.beforeAnyEndMark;
  for (;;) {
    const known = cluster.memory.streamingLists === 'given';
    const event = await next(cluster, known ? quiet.beforeKnownEndMark : quiet.beforeEndMark, signal);
    if (event === undefined || cluster.surroundings.now() > until)
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
  const { namespace, name } =
    (object as { metadata?: { namespace?: unknown; name?: unknown } } | undefined)?.metadata ?? {};
  const key = JSON.stringify([namespace, name]);
  if (change === 'DELETED') state.delete(key);
  else state.set(key, object);
}

async function* readChanges(reader: Reader, target: WatchTarget, position: Position): AsyncGenerator<Sighting, Ending> {
  const { cluster, signal, health, next } = reader;
  for (;;) {
    const isDoubted = health.doubted.aborted && !position.whole;
    const patience = isDoubted ? quiet.whenDoubted : quiet.beforeAsking;
    const event = await next(cluster, patience, health.doubted.aborted ? signal : health.doubted);
    if (signal.aborted) return end({ kind: 'ended' });
    const told = event ?? (yield* askAndListen(reader, target, position));
    if (told === 'unknown') continue;
    if (told === 'alive') {
      if (isDoubted) tellWhole(position, health);
      continue;
    }
    if (told === 'dead' || told === 'astray') return end({ kind: told });
    if (told.kind !== 'line') return end(outcomeOf(told));
    const ending = yield* tellLine(target, position, readWatchLine(told.bytes), told.at);
    if (ending !== undefined) return ending;
  }
}

function tellWhole(position: Position, health: Health): void {
  position.whole = true;
  health.whole();
}

/** Never cuts a stream for being silent: only for being silent about something that the server has. */
async function* askAndListen(
  { cluster, signal, next }: Reader,
  target: WatchTarget,
  position: Position,
): AsyncGenerator<Sighting, LineEvent | 'alive' | 'dead' | 'astray' | 'unknown'> {
  const asked = cluster.surroundings.now();
  const { newest, told, present } = position;
  const known = {
    ...(newest === undefined ? {} : { newest }),
    ...(told === undefined ? {} : { told }),
    ...(target.name === undefined ? {} : { present }),
  };
  const question = askWhatIsNew(cluster, target, known, signal);
  const answered = new AbortController();
  const settle = (): void => answered.abort();
  question.then(settle, settle);
  // The stream is read on: a line makes the question moot, and an answer may be long in coming.
  const line = await next(cluster, quiet.forAnswer, answered.signal);
  if (line !== undefined) return line;
  if (!answered.signal.aborted) return 'unknown';
  const alive = await question;
  yield* alive.dated;
  if (alive.has === 'less') return outlived(position, asked) ? 'astray' : 'alive';
  if (alive.has !== 'more') {
    position.failures = 0;
    if (alive.has === 'unknown') return 'unknown';
    isWell(position);
    if (alive.complete) Object.assign(position, { goodAt: asked, sureAt: asked });
    return 'alive';
  }
  const late = await next(cluster, quiet.grace, signal);
  if (late !== undefined) return late;
  if (alive.latest !== undefined && !isNewer(alive.latest, position.resourceVersion)) retreat(position);
  return 'dead';
}

/** Whether the server has had less than what was told for longer than one that is behind would. */
function outlived(position: Position, asked: number): boolean {
  position.lessSince ??= asked;
  return asked - position.lessSince >= quiet.beforeAsking;
}

/** Tells one line and moves the cursor, in this order: what the consumer did not take comes again. */
async function* tellLine(
  target: WatchTarget,
  position: Position,
  line: WatchLine,
  at: number,
): AsyncGenerator<Sighting, Ending | undefined> {
  if (line.kind === 'malformed') return end({ kind: 'cut' });
  if (line.kind === 'error') return refusedInside(line);
  if (line.kind === 'change' && isForeign(target, line.object)) return undefined;
  const { resourceVersion } = line;
  if (resourceVersion === undefined) return line.kind === 'bookmark' ? undefined : end({ kind: 'unversioned' });
  // A server that is behind the one we saw before tells again what we know; the cursor never goes back behind that.
  if (isNewer(position.told, resourceVersion)) return undefined;
  if (line.kind === 'change') {
    yield { kind: 'changed', at, stream: target.stream, change: line.change, object: line.object };
    const isPresent = line.change !== 'DELETED';
    Object.assign(position, { present: isPresent, told: resourceVersion, newest: resourceVersion, sureAt: at });
  }
  Object.assign(position, { resourceVersion, goodAt: at });
  isWell(position);
  return undefined;
}

function refusedInside({ refusal }: Extract<WatchLine, { kind: 'error' }>): Ending {
  const { status, retryAfterMs } = refusal;
  return {
    outcome: { kind: 'refused', status, frame: true, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    refusal,
    verb: 'watch',
  };
}

function outcomeOf(event: Exclude<LineEvent, { kind: 'line' }>): Outcome {
  if (event.kind === 'oversized') return event;
  return { kind: event.clean ? 'ended' : 'cut' };
}

function end(outcome: Outcome): Ending {
  return { outcome, verb: 'watch' };
}
