/**
 * A kubelet that begins anew counts the grace anew: why a countdown jumps. No mark of the report, since it changes no
 * instant but the kill that is still to come; told once a round, while the container is not known to have ended. Pure.
 */
import type { Exit } from '../infer/conclusions.ts';
import { killAt } from './container-state.ts';

export interface NextRound {
  readonly container: string;
  /** ms: when the news of it came in. */
  readonly at: number;
  /** ms: when the container is to be killed now; undefined where nothing bounds its grace. */
  readonly kill: number | undefined;
}

/** Those that `told` (the newest of each container, `seq`) does not have, and what is told after them. */
export function nextRounds(
  exit: Exit,
  told: ReadonlyMap<string, number>,
): { rounds: NextRound[]; told: ReadonlyMap<string, number> } {
  const fresh = exit.containers.flatMap((one) => {
    const newest = one.killings.length > 1 ? one.killings.at(-1) : undefined;
    const isOver = one.exit !== undefined && !one.exit.provisional;
    return !newest || isOver || newest.seq <= (told.get(one.spec.name) ?? -1) ? [] : [{ one, newest }];
  });
  const rounds = fresh.map(({ one, newest }) => {
    const kill = killAt(one, exit, newest.at);
    return { container: one.spec.name, at: newest.at, kill: kill && (kill.lo + kill.hi) / 2 };
  });
  return { rounds, told: new Map([...told, ...fresh.map(({ one, newest }) => [one.spec.name, newest.seq] as const)]) };
}
