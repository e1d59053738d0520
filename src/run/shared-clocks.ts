/** The clocks of the nodes in a run over several pods: each pod shows something of its node's. */
import type { Tie } from '../infer/clocks.ts';
import { tied } from '../infer/clocks.ts';
import { nodeTieOf } from '../infer/pod-network.ts';
import type { Clock } from '../model/clock.ts';
import type { Observation } from '../model/observation.ts';
import type { Subject } from '../model/select.ts';
import type { Trace } from '../model/trace.ts';

export function createSharedClocks() {
  /** By node, then by the pod's uid. */
  const ties = new Map<string, Map<string, Tie>>();
  /** By node; drawn up when asked for. */
  const known = new Map<string, Clock>();
  /** Of pods whose exit is over: nothing that comes concerns it any more. */
  const kept = new Map<string, Clock | undefined>();
  const clockOf = (node = ''): Clock | undefined => {
    const here = ties.get(node);
    const clock = known.get(node) ?? (here && tied([...here.values()]));
    if (clock) known.set(node, clock);
    return clock;
  };
  return {
    /** A pod's trace with an observation that concerned it. */
    take({ subject: { uid, node }, trace }: { subject: Subject; trace: Trace }, o: Observation): void {
      if (node === undefined) return;
      if (o.kind === 'timer' && o.pod === uid) kept.set(uid, clockOf(node));
      const shows = o.kind === 'changed' && (o.object.kind === 'Pod' || o.object.kind === 'Event');
      const tie = shows && !kept.has(uid) ? nodeTieOf(trace) : undefined;
      if (!tie) return;
      const here = ties.get(node) ?? new Map<string, Tie>();
      ties.set(node, here.set(uid, tie));
      known.delete(node);
    },
    in: (trace: Trace, { uid, node }: Subject): Trace => {
      const shared = kept.has(uid) ? kept.get(uid) : clockOf(node);
      return shared ? { ...trace, shared } : trace;
    },
  };
}
