/** All containers of a pod: main ones stop together, sidecars after them in reverse order (SIGNALS.md §2 S7). */
import { containersOf } from '../pod.ts';
import type { ContainerExit } from './container.ts';
import { containerExit } from './container.ts';
import type { Estimate } from './estimate.ts';
import { cite, narrowed, notAfter, notBefore, unbounded } from './estimate.ts';
import type { Scene } from './scene.ts';

/** In the order of the spec, which is the report's: main containers first, then sidecars, init and ephemeral ones. */
export function exitsOf(scene: Scene): ContainerExit[] {
  const specs = containersOf(scene.deletion.facts.first.value);
  const mains = specs.filter((spec) => spec.kind !== 'sidecar').map((spec) => containerExit(scene, spec));
  const sidecars = specs.filter((spec) => spec.kind === 'sidecar').reverse();
  const stopped = sidecars.reduce<ContainerExit[]>((before, spec) => {
    const waitsFor = [...mains.filter((one) => one.spec.kind === 'container'), ...before];
    return [...before, containerExit(scene, spec, turnOf(waitsFor))];
  }, []);
  const exits = [...mains, ...stopped].map((exit, index, all) => boundedByTurns(exit, all.slice(index + 1)));
  return order.flatMap((kind) => exits.filter((exit) => exit.spec.kind === kind));
}

const order = ['container', 'sidecar', 'init', 'ephemeral'] as const;

/** A sidecar whose signal came before its grace could have ended had its turn: those it waited for were gone by then. */
function boundedByTurns(exit: ContainerExit, later: readonly ContainerExit[]): ContainerExit {
  const end = exit.exit;
  if (!end || end.provisional || exit.spec.kind === 'init' || exit.spec.kind === 'ephemeral') return exit;
  const turns = later.flatMap((one) => (one.spec.kind === 'sidecar' && one.signal && hadTurn(one) ? [one.signal] : []));
  const at = turns.reduce((next, signal) => narrowed(next, notAfter(signal)), end.at);
  return at === end.at ? exit : { ...exit, exit: { ...end, at } };
}

/**
 * It got its signal while there was grace left: its end or its own words say so, not merely that it ended. A hook may have
 * made it say so and end long before its turn.
 */
function hadTurn({ signal, graceEnd, outcome, facts, hook }: ContainerExit): boolean {
  if (!signal || !graceEnd || signal.node.hi >= graceEnd.node.lo) return false;
  if (hook && !hook.inert) return false;
  const said = facts.log.signalLines.some((line) => line.value >= signal.node.lo && line.value <= signal.node.hi);
  return said || outcome === 'signalled';
}

/** The moment the last of them was gone; unbounded where one's end is not known. */
function turnOf(exits: readonly ContainerExit[]): Estimate | undefined {
  const waited = exits.filter((exit) => exit.ran);
  if (waited.length === 0) return undefined;
  const ends = waited.flatMap(doneWith);
  const latest = ends.reduce<Estimate | undefined>((last, end) => (last ? later(last, end) : end), undefined);
  return latest && ends.length === waited.length ? latest : notBefore(latest ?? unbounded);
}

/** The kubelet is done with a container when its hook has ended too: a sleep goes on after the container is gone. */
function doneWith({ exit, hook }: ContainerExit): Estimate[] {
  if (!exit || exit.provisional) return [];
  return [hook ? later(exit.at, hook.end) : exit.at];
}

const later = (a: Estimate, b: Estimate): Estimate => ({
  client: { lo: Math.max(a.client.lo, b.client.lo), hi: Math.max(a.client.hi, b.client.hi) },
  node: { lo: Math.max(a.node.lo, b.node.lo), hi: Math.max(a.node.hi, b.node.hi) },
  basis: 'inferred',
  evidence: cite(a.evidence, b.evidence),
});
