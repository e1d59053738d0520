/** Whether a container may have ended before its stop signal was due: then none was sent, and none is reported. */
import { earlierOf } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerExit } from './container.ts';
import type { Estimate } from './estimate.ts';
import { isBefore } from './estimate.ts';

/** `turn`, `graceEnd`: as in container.ts; `ended`: by its status. */
interface Ending extends Pick<ContainerExit, 'facts' | 'killings' | 'hook' | 'exit' | 'outcome'> {
  /** The clock of its node certainly was set. */
  readonly wasSet: boolean;
  readonly turn: Estimate | undefined;
  readonly ended: Estimate | undefined;
  readonly graceEnd: Estimate;
  /** How often it had ended before. */
  readonly restarts: number;
}

/** Counts only against a signal that no line of the log proves (container.ts). */
export const mayHaveGone = (ending: Ending): boolean =>
  mayHaveCrashed(ending) || ending.hook?.mayHaveDied === true || mayHaveGoneBefore(ending) || isOlder(ending);

/**
 * By the clock of its node the second of its end was over before the kubelet began with it, or before its turn: the kubelet had
 * not noticed yet (trap 7). Where that clock is doubted something came late, and a late log is more likely than a clock
 * that was set; of one that certainly was, stamps show no order.
 */
function isOlder({ wasSet, facts: { terminated }, killings, hook, turn, graceEnd }: Ending): boolean {
  const ended = parseFloor(terminated?.value.finishedAt);
  if (!ended || wasSet) return false;
  const dues = [
    killings[0]?.time.lo ?? -Infinity,
    hook?.kind === 'sleep' ? hook.end.node.lo : -Infinity,
    turn ? Math.min(turn.node.lo, graceEnd.node.lo) : -Infinity,
  ];
  return dues.some((due) => ended.lo < due && ended.hi <= due);
}

/** A sidecar that died of a signal which is no stop signal, perhaps while it waited for its turn: then none came. */
function mayHaveCrashed({ facts: { terminated }, turn, outcome, ended, graceEnd }: Ending): boolean {
  if (!turn || outcome !== 'failed') return false;
  const bySignal = terminated !== undefined && terminated.value.exitCode > 128;
  return bySignal && ended !== undefined && !isBefore(turn, ended) && !isBefore(graceEnd, ended);
}

/**
 * A sleep, and the wait for a turn, go on when their container has ended by itself: then no signal came (SIGNALS.md §2 S6,
 * S7). Few end just then, and most that are asked to end do so at once: so it is doubted only where nearly all of the time
 * that the exit may have been at lies before; of one that has ended by itself before, where any of it does. A code of a signal
 * shows that one came.
 */
function mayHaveGoneBefore({ hook, turn, exit, outcome, graceEnd, restarts }: Ending): boolean {
  if (!exit || outcome === 'killed' || outcome === 'signalled') return false;
  // A turn comes with the end of the grace at the latest (stop-signal.ts).
  const due = turn && earlierOf(turn.client, graceEnd.client);
  const waits = [...(hook?.kind === 'sleep' ? [hook.end.client] : []), ...(due ? [due] : [])];
  const { lo, hi } = exit.at.client;
  return waits.some((end) => (restarts > 0 ? lo < end.hi : end.lo - lo > mostBefore * (hi - lo)));
}

/** Of the width of an exit. */
const mostBefore = 0.75;
