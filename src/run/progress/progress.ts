/** How far a rollout has got: its owners, its terminating pods, and when nothing more is expected of either. */
import type { JsonObject } from '../../model/observe/read.ts';
import { delay, type Env } from '../../kube/env.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { isFinishedPod, isTerminatingPod, uidOf } from '../streams/watched.ts';

/** ms without a change of the pods after which a rollout with an unknown end is no longer waited for. */
export const quietMs = 60_000;

/** `quiet`: the end of the rollout is unknown, and nothing changed for long. `left`: by a limit, signal or failure. */
export type RolloutEnd = 'done' | 'quiet' | 'left';

export type Progress = ReturnType<typeof createProgress>;

/** `running`: the number of open traces. */
export function createProgress(running: () => number, warn: (sentence: string) => void) {
  /** By `deployment/checkout`: whether the owner has rolled out. */
  const owners = new Map<string, boolean>();
  const notFollowed = new Set<string>();
  const terminating = new Set<string>();
  /** Why the rollout is not over, whatever its owners and pods show. */
  const holds = new Set(['its owners are not known', 'it has not begun']);
  /** Streams that are not alive: there silence does not mean that nothing happens. */
  const lost = new Set<string>();
  /** Pods whose trace has ended. */
  const traced = new Set<string>();
  /** The pods from the start that exist and have not been traced; undefined until the pods are listed. */
  let first: Set<string> | undefined;
  const changes = createChanges();
  let hasReportedWait = false;
  const release = (what: string): void => void (holds.delete(what), changes.ofPods());
  const begun = (): void => release('it has not begun');
  const setAlive = (stream: string, isAlive: boolean): void =>
    void (isAlive ? lost.delete(stream) : lost.add(stream), changes.ofPods());
  /** Nothing more is expected of the pod. */
  const leave = (uid: string): void => void (first?.delete(uid), terminating.delete(uid));
  const pending = (): string[] => [...owners].flatMap(([owner, isDone]) => (isDone ? [] : [owner]));
  const isIdle = (): boolean => terminating.size === 0 && running() === 0;
  /** Whether the end of the rollout can be known. */
  const isEndKnown = (): boolean => notFollowed.size === 0 || first?.size === 0;
  const isOver = (): boolean => holds.size + lost.size === 0 && isIdle() && [...owners.values()].every(Boolean);
  return {
    follows: (owner: string): boolean => owners.has(owner),
    ownerSeen: (owner: string, isDone: boolean): void => void (owners.set(owner, isDone), changes.ofOwners()),
    /** It is unknown when this owner (in words) has rolled out. */
    ownerNotFollowed(owner: string): void {
      if (!notFollowed.has(owner)) warn(notFollowedText(owner));
      notFollowed.add(owner);
      changes.ofOwners();
    },
    /** The rollout has begun, even if it makes no pod terminate. */
    begun,
    /** Keeps the rollout open until `release`: for a running command, or a named pod. */
    hold: (what: string): void => void holds.add(what),
    release,
    ownersKnown: (): void => release('its owners are not known'),
    listed(pods: readonly JsonObject[]): void {
      const isFromStart = (pod: JsonObject): boolean => (first ? first.has(uidOf(pod)) : !isFinishedPod(pod));
      first = new Set(pods.filter(isFromStart).map(uidOf));
      changes.ofPods();
    },
    /** Takes a state of a pod; undefined if it is gone. */
    seen(uid: string, pod: JsonObject | undefined): void {
      if (!pod) leave(uid);
      else if (!traced.has(uid) && isTerminatingPod(pod)) {
        terminating.add(uid);
        begun();
      }
      changes.ofPods();
    },
    podsAlive: (isAlive: boolean): void => setAlive('pods', isAlive),
    ownerAlive: setAlive,
    hasLostWatch: (): boolean => lost.size > 0,
    /** The pod's trace has ended, or it is given up. */
    podTraced(uid: string): void {
      traced.add(uid);
      leave(uid);
      changes.ofPods();
      if (hasReportedWait || !isIdle() || pending().length === 0) return;
      hasReportedWait = true;
      warn(`no pod is terminating now; waiting until ${ownersText(pending())} has rolled out`);
    },
    /** Owners that have not rolled out, in words. */
    pending,
    isEndKnown,
    /** Resolves when the rollout is done and has been quiet since, or on abort. */
    untilOver: (env: Env, signal: AbortSignal) => untilOver({ isOver, isEndKnown }, changes, env, signal),
  };
}

const notFollowedText = (owner: string): string =>
  `cannot determine when the rollout completes: ${owner}; waiting until every pod that was there at the start is gone, or none has changed for ${quietMs / 1000} s`;

export const ownersText = (owners: readonly string[]): string => forTerminal(owners.join(', '), 2000);

/** Changes that `untilOver` waits for. */
function createChanges() {
  let onAny = (): void => {};
  let ofPods = new AbortController();
  return {
    ofOwners: (): void => onAny(),
    ofPods(): void {
      if (!ofPods.signal.aborted) ofPods.abort(); // A second one makes an exception with its stack, too.
      onAny();
    },
    next: (): Promise<void> => new Promise((resolve) => (onAny = resolve)),
    /** Aborted by the next change of a pod. */
    nextOfPods: (): AbortSignal => (ofPods = new AbortController()).signal,
  };
}

async function untilOver(
  { isOver, isEndKnown }: Record<'isOver' | 'isEndKnown', () => boolean>,
  changes: ReturnType<typeof createChanges>,
  env: Env,
  signal: AbortSignal,
): Promise<RolloutEnd> {
  signal.addEventListener('abort', changes.ofOwners, { once: true });
  while (!signal.aborted) {
    if (!isOver()) await changes.next();
    else if (isEndKnown()) {
      // With two streams, the later change may arrive first.
      await delay(env, 1000, signal);
      if (isOver() && isEndKnown() && !signal.aborted) return 'done';
    } else {
      const isQuiet = await delay(env, quietMs, AbortSignal.any([signal, changes.nextOfPods()]));
      if (isQuiet && isOver()) return isEndKnown() ? 'done' : 'quiet';
    }
  }
  return 'left';
}
