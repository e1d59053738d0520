import type { RawObservation } from '../model/observation.ts';
import { askWhatIsNew, createSilence } from './alive.ts';
import {
  doubtBookmark,
  resetFailures,
  rewind,
  type StreamContext,
  type Ending,
  type Position,
  type Health,
} from './watch-position.ts';
import type { Flow } from './cluster.ts';
import { takeLines, type LineEvent } from './lines.ts';
import { isNewer } from './status.ts';
import { mostLineBytes } from './trouble.ts';
import {
  createPull,
  end,
  outcomeOf,
  readInitialState,
  readWatchLine,
  refusedInside,
  type Reader,
  type WatchLine,
} from './watch-line.ts';
import { isForeign, keyOf, type WatchTarget } from './resource-path.ts';

/** ms without a line, once it was asked why. */
const quiet = {
  /** An answer that takes longer says nothing any more: it is asked again. */
  forAnswer: 3000,
  /** The answer was ahead: so long may the line itself still be under way. */
  grace: 1000,
};

/** ms after which a server that has less than was received is no longer one that is only behind. */
const longBehind = 10_000;

/** ms after which a watch has lived, though it brought nothing: longer than any wait between two of them. */
const longLife = 6000;

/** All lines of one watch response, until it ends or is found dead. `initial`: it begins with the whole state. */
export async function* followWatch(
  context: StreamContext,
  flow: Flow,
  how: { initial: boolean },
): AsyncGenerator<RawObservation, Ending> {
  const { cluster, position } = context;
  const ending = yield* followLines(context, flow, how);
  const { outcome, refusal } = ending;
  if (refusal !== undefined) doubtBookmark(position, refusal);
  if (outcome.kind === 'refused' && outcome.status === 401 && !position.renewed && (await flow.renew()))
    return { ...ending, outcome: { kind: 'renewed' } };
  // A stream that was dead, or ahead of its server, does not reset the backoff.
  const hasLived = cluster.env.now() - flow.at >= longLife && !['dead', 'ahead'].includes(outcome.kind);
  if (hasLived && !how.initial) Object.assign(position, { failures: 0, relists: 0 });
  return ending;
}

async function* followLines(
  context: StreamContext,
  flow: Flow,
  { initial }: { initial: boolean },
): AsyncGenerator<RawObservation, Ending> {
  const { cluster, target, position } = context;
  const lines = takeLines(flow.body, {
    mostBytes: mostLineBytes,
    onLong: 'stop',
    now: () => cluster.env.now(),
  });
  const reader: Reader = { ...context, next: createPull(lines) };
  try {
    if (initial) {
      const ending = yield* readInitialState(reader, target, position, flow.sentAt);
      if (ending !== undefined) return ending;
    }
    context.health.flows();
    return yield* readChanges(reader, target, position);
  } finally {
    flow.body.destroy();
  }
}

async function* readChanges(
  reader: Reader,
  target: WatchTarget,
  position: Position,
): AsyncGenerator<RawObservation, Ending> {
  const { cluster, signal, health, next } = reader;
  const silence = createSilence(cluster.env, health);
  for (;;) {
    health.sure(position.goodAt);
    if (health.doubted.aborted && isOver(target, position)) tellWhole(position, health);
    const isDoubted = health.doubted.aborted && !position.whole;
    const event = await next(cluster, silence.patience(isDoubted), health.doubted.aborted ? signal : health.doubted);
    if (signal.aborted) return end({ kind: 'ended' });
    if (event === undefined && silence.isTooEarly()) continue;
    const received = event ?? (yield* askAndListen(reader, target, position));
    if (received === 'alive') {
      silence.answered();
      if (isDoubted) tellWhole(position, health);
      continue;
    }
    if (received === 'dead' || received === 'ahead') return end({ kind: received });
    if (received.kind === 'unanswered') {
      silence.unanswered(position.goodAt, received.retryAfterMs);
      continue;
    }
    if (received.kind !== 'line') return end(outcomeOf(received));
    yield* slowly(target, position, received);
    const ending = yield* handleLine(target, position, readWatchLine(received.bytes), received.at);
    if (ending !== undefined) return ending;
    silence.broken();
  }
}

/** It said that its object is gone: whatever else it may have to say is of another one. */
const isOver = ({ name }: WatchTarget, { whole, present }: Position): boolean =>
  name !== undefined && !present && !whole;

function tellWhole(position: Position, health: Health): void {
  position.whole = true;
  health.whole();
}

interface Unanswered {
  kind: 'unanswered';
  retryAfterMs: number | undefined;
}

/** Never cuts a stream for being silent: only for being silent about something that the server has. */
async function* askAndListen(
  { cluster, signal, next }: Reader,
  target: WatchTarget,
  position: Position,
): AsyncGenerator<RawObservation, LineEvent | 'alive' | 'dead' | 'ahead' | Unanswered> {
  const asked = cluster.env.now();
  const { newest, received, present, keys } = position;
  const known = {
    newest,
    received,
    ...(target.name === undefined ? { keys } : { present }),
  };
  const question = askWhatIsNew(cluster, target, known, signal);
  const answered = new AbortController();
  const settle = (): void => answered.abort();
  question.then(settle, settle);
  // The stream is read on: a line makes the question moot, and an answer may be long in coming.
  const line = await next(cluster, quiet.forAnswer, answered.signal);
  if (line !== undefined) return line;
  if (!answered.signal.aborted) return { kind: 'unanswered', retryAfterMs: undefined };
  const alive = await question;
  yield* alive.dated;
  if (alive.has === 'less') return outlived(position, asked) ? 'ahead' : 'alive';
  if (alive.has !== 'more') {
    position.failures = 0;
    if (alive.has === 'unknown') return { kind: 'unanswered', retryAfterMs: alive.retryAfterMs };
    resetFailures(position);
    if (alive.complete) Object.assign(position, { goodAt: asked, sureAt: asked });
    return 'alive';
  }
  const late = await next(cluster, quiet.grace, signal);
  if (late !== undefined) return late;
  if (alive.latest !== undefined && !isNewer(alive.latest, position.resourceVersion)) rewind(position);
  return 'dead';
}

/** Whether the server has had less than what was received for longer than one that is behind would. */
function outlived(position: Position, asked: number): boolean {
  position.lessSince ??= asked;
  return asked - position.lessSince >= longBehind;
}

/** ms from the first byte of a line to its last; and between two lines of one burst. */
const [slowLine, sameBurst] = [250, 50];

/** What a slow link brings is as old as the first line of the burst: those behind it waited for its bytes. */
function* slowly(
  { stream }: WatchTarget,
  position: Position,
  { at, since }: Extract<LineEvent, { kind: 'line' }>,
): Generator<RawObservation> {
  const { burst } = position;
  const isSame = burst !== undefined && since - burst.until <= sameBurst;
  position.burst = { since: isSame ? burst.since : since, until: at };
  if (at - since > slowLine) yield { kind: 'resumed', at, stream, since: position.burst.since };
}

/** Hands one line over, then moves the cursor: what the consumer did not take comes again. */
async function* handleLine(
  target: WatchTarget,
  position: Position,
  line: WatchLine,
  at: number,
): AsyncGenerator<RawObservation, Ending | undefined> {
  if (line.kind === 'malformed') return end({ kind: 'cut' });
  if (line.kind === 'error') return refusedInside(line);
  if (line.kind === 'change' && isForeign(target, line.object)) return undefined;
  const { resourceVersion } = line;
  if (resourceVersion === undefined) return line.kind === 'bookmark' ? undefined : end({ kind: 'unversioned' });
  // A server that is behind the one we saw before repeats what we know; the cursor never goes back behind that.
  if (isNewer(position.received, resourceVersion)) return undefined;
  if (line.kind === 'change') {
    yield { kind: 'changed', at, stream: target.stream, change: line.change, object: line.object };
    const isPresent = line.change !== 'DELETED';
    if (target.name === undefined) position.keys[isPresent ? 'add' : 'delete'](keyOf(line.object));
    Object.assign(position, { present: isPresent, received: resourceVersion, newest: resourceVersion, sureAt: at });
  }
  Object.assign(position, { resourceVersion, goodAt: at });
  resetFailures(position);
  return undefined;
}
