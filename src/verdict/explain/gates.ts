import type { GateSpec } from '../policy.ts';
import type { Explanation } from './explanation.ts';

export type GateWord = GateSpec['kind'] | 'disruption-budget' | 'timeout';

const unproved =
  'It fails also where the interval of what was measured reaches beyond the limit: its sentence then says that it may be more, or that nothing proves it, and the limit may have been kept.';

/** The limits of verdict/gates.ts (docs/gates.md), and those that only a check has. */
export const gateTexts: Record<GateWord, Explanation> = {
  'max-duration': {
    is: 'A limit on the whole exit: from the request, or from its acceptance where the deletion was not ours, until the object was gone.',
    known:
      'The request bears our own clock and the removal when it arrived; where the request was not ours, the interval of the acceptance counts in full.',
    wrong: `${unproved} Of a run that ended before the pod did, only the shortest time is known.`,
    advice:
      'Look at the phases: the longest one says what to change. Leave room above what an exit usually takes, since the clean-up alone differs by a second or two.',
  },
  'max-grace-used': {
    is: 'A limit on the share of the grace after which a container was still running, of the container that used most of it.',
    known:
      "From when the kubelet began with it (`stopping`) to its exit, against the shortest grace that the kubelet can have gone by. A sidecar's grace runs from the beginning, so what passes before its turn counts.",
    wrong: `${unproved} Without logs an exit is known to about a second, which of a short grace is a large share.`,
    advice:
      'Make the container that the sentence names end sooner, or raise terminationGracePeriodSeconds; let podexit follow the logs (`pods/log`) for a narrower proof.',
  },
  'min-drain-lead': {
    is: 'A limit on the lead of the least lucky container: how long before its stop signal each Service had taken the pod out of its ready endpoints.',
    known:
      'The EndpointSlice tells the unrouting and the signal is inferred; of all pairs of a Service that follows readiness and a container that is no sidecar the least counts.',
    wrong: `${unproved} Proxies and load balancers learn of the unrouting later still, which no gate sees. A pod without a Service passes.`,
    advice:
      'Add a preStop sleep that is longer than the lead you want, and raise terminationGracePeriodSeconds by as much. Start the trace before the deletion, so that the endpoints are watched by then.',
  },
  'max-lost': {
    is: 'A limit on how many requests of the probes failed, as a number or as a share of all that were sent. `--probe` implies 0, and `100%` switches it off.',
    known:
      'The probes count their own requests (docs/traffic.md). Those of `pod`, which is meant to stop, and those that this machine or the API server kept from being measured do not count.',
    wrong:
      'A probe sees only what it asks: no failure of 400 requests proves no loss among 400,000. It fails where no request was measured.',
    advice: 'See requests-lost.',
  },
  'fail-on': {
    is: 'A gate that fails where the verdict has a finding of this code, whatever its severity.',
    known: 'By the findings of the same report; the sentence of the gate is theirs.',
    wrong:
      'A finding says what is proved, so its absence proves nothing: an exit whose endpoints could not be watched has no `drain-race`.',
    advice:
      'See `kubectl podexit explain CODE` for the finding. Ask for `min-drain-lead` where a proof is wanted, and for `fail-on: [evidence-lost]` to refuse exits of which something may have been missed.',
  },
  'disruption-budget': {
    is: 'A check of whether the PodDisruptionBudgets that cover the pod would let it be evicted now. It fails with `--evict` alone, since a deletion respects no budget.',
    known:
      "By the eviction API's own rule, from the status of each budget and the pod's readiness, as both are at this moment.",
    wrong:
      'The number of allowed disruptions changes with every sibling that becomes ready or not. A budget whose controller has not seen its last change refuses for a moment longer.',
    advice:
      'Wait until more of its siblings are healthy, ask with `--evict --retry-evict`, or let the budget allow one disruption more.',
  },
  timeout: {
    is: 'A check of `--timeout` against the grace: an exit may take all of its grace and be healthy, and a limit that ends before it would call it stuck.',
    known: 'The grace that is asked for, or that of the pod, in seconds; neither needs a deletion.',
    wrong: 'What comes after the grace is not counted: a kill, the clean-up and finalizers take time too.',
    advice: 'Give a `--timeout` that is longer than the grace, by a minute or two; the default is the grace and 120 s.',
  },
};
