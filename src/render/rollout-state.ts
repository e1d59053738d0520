/**
 * A run over several pods, as the table and its card show it: the numbers of each pod stay in its Timeline and Verdict,
 * and nothing here is text that somebody would have to parse. All instants are ms on the client's clock, lengths ms,
 * shares ratios to the grace period (1 = all of it).
 */
import type { Timeline } from '../infer/timeline.ts';
import type { Report } from '../verdict/report.ts';

/** One pod of the run. `report` is there once the pod has ended, or once the run has. */
export interface RolloutPod {
  readonly timeline: Timeline;
  readonly report?: Report;
}

/** What the live table is drawn from, after each observation: a value, not a stream of changes. */
export interface RolloutState {
  /** `deployment/checkout`, `-l app=checkout`. */
  readonly target: string;
  readonly namespace: string;
  /** Every pod whose deletion was seen, in the order in which their deletions began. */
  readonly pods: readonly RolloutPod[];
  /** The workload's own progress, where it has any: replicas that are updated and available, of how many. */
  readonly progress?: { readonly updated: number; readonly available: number; readonly desired: number };
}
