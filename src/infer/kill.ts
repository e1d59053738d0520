/** SIGKILL at the end of the grace (SIGNALS.md §2 S9, §5): no Event tells it (trap 28), exit code and time do. */
import { driftOver } from '../model/assumptions.ts';
import type { ContainerSpec } from '../model/pod.ts';
import type { ContainerFacts, Trace } from '../model/trace.ts';
import type { Estimate } from './estimate.ts';
import { crossed, moved, narrowed, notAfter, notBefore } from './estimate.ts';
import { minimumGrace, shortestStop } from './grace.ts';
import type { Scene } from './scene.ts';

/**
 * The earliest that it can have come: the whole grace after K, and never less than the minimum after the signal, however
 * much of the grace hook and turn ate (SIGNALS.md §2 S8, §5).
 */
export function killSince(
  { kubelet }: Scene,
  began: Estimate,
  signal: Estimate | undefined,
  timeout = shortestStop(kubelet),
): Estimate {
  const since = notBefore(moved(began, { lo: timeout - driftOver(timeout), hi: 0 }));
  const afterSignal = signal && notBefore(moved(signal, { lo: minimumGrace - driftOver(minimumGrace), hi: 0 }));
  return crossed(afterSignal ? narrowed(since, afterSignal) : since, kubelet.clock);
}

export const killOf = ({ kubelet }: Scene, since: Estimate, ended: Estimate): Estimate =>
  crossed({ ...narrowed(since, notAfter(ended)), basis: 'inferred' }, kubelet.clock);

/** Past the grace and past the minimum after the signal, wherever in their intervals K and the signal lie. */
export function surelyAfterGrace({ kubelet }: Scene, began: Estimate, signal: Estimate | undefined, ended: Estimate) {
  const past = (from: Estimate, timeout: number): boolean => {
    const { node, client } = moved(from, { lo: 0, hi: timeout - driftOver(timeout) });
    return ended.node.lo >= node.hi || ended.client.lo >= client.hi;
  };
  return past(began, shortestStop(kubelet)) && (!signal || past(signal, minimumGrace));
}

/**
 * finishedAt is a whole second, and in the second in which the grace ends a 137 may still be the application's own. One
 * that gave no sign of life after its signal did not exit by itself just then.
 */
export function showedLife(trace: Trace, spec: ContainerSpec, facts: ContainerFacts, began: Estimate): boolean {
  const spoke = facts.log.lastLine !== undefined && facts.log.lastLine.value > began.node.lo;
  const failed = trace.events.some(
    (event) => event.reason === 'Unhealthy' && event.about.container === spec.name && event.time.hi > began.node.hi,
  );
  return spoke || failed || facts.readyLost !== undefined;
}

/**
 * Without a hook or a turn the kill came the whole grace after the signal, so the signal was no later than that before
 * the exit. With one, a late 137 may also be the application's own, and proves nothing of the signal.
 */
export function beforeKill({ kubelet }: Scene, signal: Estimate, exit: Estimate): Estimate {
  const timeout = shortestStop(kubelet);
  const latest = moved(exit, { lo: -timeout, hi: driftOver(timeout) - timeout });
  return crossed(narrowed(signal, notAfter(latest)), kubelet.clock);
}
