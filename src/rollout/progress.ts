/** How far a rollout has got: its owners, its terminating pods, and when nothing more is expected of either. */
import { metadataOf, type JsonObject } from '../model/observe/read.ts';
import { delay, type Env } from '../kube/env.ts';
import type { PodListener } from '../run/live-run.ts';
import { pathText } from '../run/target.ts';
import { isFinishedPod, uidOf } from '../run/watched.ts';

export interface Progress extends Omit<PodListener, 'owner' | 'ownerAlive'> {
  /** Takes whether the owner at `path` has rolled out. */
  ownerSeen(path: string, isDone: boolean): void;
  /** It is unknown when this owner (in words) has rolled out. */
  ownerNotFollowed(owner: string): void;
  /** The rollout has begun, even if it makes no pod terminate. */
  begun(): void;
  /** Keeps the rollout open until `release`: for a running command, or a named pod. */
  hold(what: string): void;
  release(what: string): void;
  /** All owners are known. */
  ownersKnown(): void;
  /** The pod's trace has ended. */
  podTraced(uid: string): void;
  /** Whether the stream of the owner at `path` is alive, so that silence means that nothing happens. */
  ownerAlive(this: void, path: string, isSo: boolean): void;
  /** Whether a watch is lost now: then silence does not end the rollout. */
  hasLostWatch(): boolean;
  /** Owners that have not rolled out, in words. */
  pending(): string[];
  /** Whether the end of the rollout can be known. */
  isEndKnown(): boolean;
  /** Resolves when the rollout is done and has been quiet since, or on abort. */
  untilOver(env: Env, signal: AbortSignal): Promise<'done' | 'quiet' | 'left'>;
}

/** Messages for the user. */
export interface ProgressMessages {
  /** Called once, when no pod terminates: the owners that are not done. */
  waits(owners: string[]): void;
  /** Called once per owner whose end of rollout is unknown. */
  notFollowed(owner: string): void;
}

/** ms; with two streams, the later change may arrive first. */
const settleMs = 1000;
/** ms without a change of the pods after which a rollout with an unknown end is no longer waited for. */
export const quietMs = 60_000;

/** `running`: the number of open traces. */
export function createProgress(running: () => number, says: Partial<ProgressMessages> = {}): Progress {
  const owners = new Map<string, boolean>();
  const notFollowed = new Set<string>();
  const terminating = new Set<string>();
  const holds = new Set<string>();
  const traced = new Set<string>(); // Also those that were given up on.
  const roster = createRoster();
  let [areOwnersKnown, hasBegun, hasReportedWait] = [false, false, false];
  const lost = new Set<string>();
  const bell = createSignal();
  const { wake, podChanged } = bell;
  const setAlive = (what: string, isSo: boolean): void =>
    void (isSo ? lost.delete(what) : lost.add(what), podChanged());
  const pending = (): string[] => [...owners].flatMap(([path, isDone]) => (isDone ? [] : [pathText(path)]));
  const isIdle = (): boolean => terminating.size === 0 && running() === 0;
  const isEndKnown = (): boolean => notFollowed.size === 0 || roster.areFirstGone(traced);
  const isOver = (): boolean =>
    areOwnersKnown && hasBegun && holds.size + lost.size === 0 && isIdle() && [...owners.values()].every(Boolean);
  return {
    ownerSeen: (path, isDone) => void (owners.set(path, isDone), wake()),
    ownerNotFollowed(owner) {
      if (!notFollowed.has(owner)) says.notFollowed?.(owner);
      notFollowed.add(owner);
      wake();
    },
    begun: () => void ((hasBegun = true), podChanged()),
    hold: (what) => void holds.add(what),
    release: (what) => void (holds.delete(what), podChanged()),
    ownersKnown: () => void ((areOwnersKnown = true), wake()),
    listed(pods) {
      roster.listed(pods);
      podChanged();
    },
    seen(uid, pod) {
      roster.seen(uid, pod !== undefined);
      if (pod && !traced.has(uid) && metadataOf(pod)['deletionTimestamp'] !== undefined) {
        terminating.add(uid);
        hasBegun = true;
      }
      if (!pod) terminating.delete(uid);
      podChanged();
    },
    missed: () => void ((hasBegun = true), podChanged()),
    onAlive: (isSo) => setAlive('pods', isSo),
    ownerAlive: (path, isSo) => setAlive(path, isSo),
    hasLostWatch: () => lost.size > 0,
    podTraced(uid) {
      traced.add(uid);
      terminating.delete(uid);
      podChanged();
      if (hasReportedWait || !isIdle() || pending().length === 0) return;
      hasReportedWait = true;
      says.waits?.(pending());
    },
    pending,
    isEndKnown,
    untilOver: (env, signal) => untilOver({ isOver, isEndKnown, bell }, env, signal),
  };
}

/** The pods that exist, and those that existed at the start. */
function createRoster() {
  let present = new Set<string>();
  let first: ReadonlySet<string> | undefined;
  return {
    listed(pods: readonly JsonObject[]): void {
      present = new Set(pods.map(uidOf));
      first ??= new Set(pods.filter((pod) => !isFinishedPod(pod)).map(uidOf));
    },
    seen: (uid: string, isThere: boolean): void => void (isThere ? present.add(uid) : present.delete(uid)),
    areFirstGone: (traced: ReadonlySet<string>): boolean =>
      first !== undefined && ![...first].some((uid) => present.has(uid) && !traced.has(uid)),
  };
}

/** Wakes the code that waits for changes. */
function createSignal() {
  let ring = (): void => {};
  let changed = new AbortController();
  const wake = (): void => ring();
  return {
    wake,
    podChanged(this: void): void {
      changed.abort();
      wake();
    },
    rung: (): Promise<void> => new Promise((resolve) => (ring = resolve)),
    /** Aborted by the next change of a pod. */
    change: (): AbortSignal => (changed = new AbortController()).signal,
  };
}

interface Awaited {
  isOver(): boolean;
  isEndKnown(): boolean;
  bell: ReturnType<typeof createSignal>;
}

async function untilOver(
  { isOver, isEndKnown, bell }: Awaited,
  env: Env,
  signal: AbortSignal,
): Promise<'done' | 'quiet' | 'left'> {
  signal.addEventListener('abort', bell.wake, { once: true });
  while (!signal.aborted) {
    if (!isOver()) await bell.rung();
    else if (isEndKnown()) {
      await delay(env, settleMs, signal);
      if (isOver() && isEndKnown() && !signal.aborted) return 'done';
    } else {
      const isQuiet = await delay(env, quietMs, AbortSignal.any([signal, bell.change()]));
      if (isQuiet && isOver()) return isEndKnown() ? 'done' : 'quiet';
    }
  }
  return 'left';
}
