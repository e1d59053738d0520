/** How far a rollout has come: its owners, its terminating pods, and when nothing more is to be expected of either. */
import type { Surroundings } from '../cluster/surroundings.ts';
import { passed } from '../cluster/surroundings.ts';
import { pathText } from './target.ts';
import type { Raw } from './watched.ts';
import { metadataOf } from './watched.ts';

export interface Progress {
  /** Whether the owner at `path` has rolled out. */
  ownerSeen(path: string, isDone: boolean): void;
  /** Each state of each pod of the target; undefined: it is gone. */
  podSeen(this: void, uid: string, pod: Raw | undefined): void;
  /** Its trace has come to an end. */
  podTraced(uid: string): void;
  /** Owners that have not rolled out, as a person names them. */
  pending(): string[];
  /** Resolves when something has rolled out or ended and it has been quiet since, or on abort. */
  untilOver(surroundings: Surroundings, signal: AbortSignal): Promise<void>;
}

/** ms; between two streams the later news may come first. */
const settleMs = 1000;

/** `running`: how many traces are under way. `waits` is told, once, which owners are not done when no pod terminates. */
export function createProgress(running: () => number, waits: (owners: string[]) => void = () => {}): Progress {
  const owners = new Map<string, boolean>();
  const terminating = new Set<string>();
  // Also those that were given up on: they are still there, and tell of themselves.
  const traced = new Set<string>();
  // A rollout that starts after us is waited for.
  let hasBegun = false;
  let hasWaited = false;
  let wake = (): void => {};
  const pending = (): string[] => [...owners].flatMap(([path, isDone]) => (isDone ? [] : [pathText(path)]));
  const isOver = (): boolean =>
    hasBegun && terminating.size === 0 && running() === 0 && [...owners.values()].every(Boolean);
  return {
    ownerSeen(path, isDone) {
      owners.set(path, isDone);
      wake();
    },
    podSeen(uid, pod) {
      if (pod && !traced.has(uid) && metadataOf(pod)['deletionTimestamp'] !== undefined) {
        terminating.add(uid);
        hasBegun = true;
      }
      if (!pod) terminating.delete(uid);
      wake();
    },
    podTraced(uid) {
      traced.add(uid);
      terminating.delete(uid);
      wake();
      if (hasWaited || terminating.size > 0 || running() > 0 || pending().length === 0) return;
      hasWaited = true;
      waits(pending());
    },
    pending,
    async untilOver(surroundings, signal) {
      signal.addEventListener('abort', () => wake(), { once: true });
      while (!signal.aborted) {
        if (!isOver()) await new Promise<void>((resolve) => (wake = resolve));
        else {
          await passed(surroundings, settleMs, signal);
          if (isOver()) return;
        }
      }
    },
  };
}
