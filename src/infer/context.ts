/** What the inference of a container needs to know: the trace, the deletion, what the kubelet did, and the network of it. */
import type { Occurrence, Trace } from '../model/trace.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import type { Stage } from './stage.ts';

export interface Kubelet {
  /** Killing "Stopping container …" of this deletion, by container, oldest first (trap 20: other Killings are not). */
  readonly killings: ReadonlyMap<string, readonly Occurrence[]>;
  /** From when on the kubelet knew: no Killing and no acknowledgement is earlier. */
  readonly noticed: Estimate | undefined;
  /** Seconds that the kubelet may have counted: what the API said before it began, at least 1 (SIGNALS.md §2 S1). */
  readonly grace: {
    readonly min: number;
    /** Infinite: nothing that was seen bounds it. */
    readonly max: number;
    /** The longest of those that were seen, and the pod's own where that may have been it. */
    readonly likely: number;
  };
}

/** Before anything is known of the kubelet. */
export interface Staged {
  readonly trace: Trace;
  readonly deletion: Deletion;
  readonly stage: Stage;
}

export interface InferContext extends Staged {
  readonly kubelet: Kubelet;
}
