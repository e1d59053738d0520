/**
 * A run over several pods, as the table and its card show it: the numbers of each pod stay in its Timeline and Verdict,
 * and nothing here is text that somebody would have to parse. All instants are ms on the client's clock, lengths ms,
 * shares ratios to the grace period (1 = all of it).
 */
import type { Timeline } from '../infer/timeline.ts';
import type { FindingCode, Outcome, Verdict } from '../model/report.ts';

/** One pod of the run. `verdict` is there once the pod has ended, or once the run has. */
export interface RolloutPod {
  readonly timeline: Timeline;
  readonly verdict?: Verdict;
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

/** Of the ratios or lengths of all pods. */
export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly max: number;
}

/** The numbers of the card that ends the run. */
export interface RolloutSummary {
  readonly target: string;
  readonly namespace: string;
  readonly pods: number;
  readonly outcomes: Partial<Record<Outcome, number>>;
  /** First acceptance to last removal, ms. */
  readonly totalMs?: number;
  readonly slowest?: { readonly pod: string; readonly totalMs: number };
  /** SIGTERM to exit of the slowest container of each pod, ms. */
  readonly drainMs?: Quantiles;
  readonly graceUsed?: Quantiles;
  /** How many pods have which judgement of traffic. */
  readonly traffic: Partial<Record<'safe' | 'at-risk' | 'lost' | 'not-judged', number>>;
  /** One row a cause, the most frequent first. */
  readonly causes: readonly { readonly code: FindingCode; readonly pods: number }[];
  /** At most three, the worst first. */
  readonly worst: readonly { readonly pod: string; readonly summary: string }[];
  /** Pods that are gone without a report. */
  readonly unseen: readonly string[];
  readonly exitCode: number;
  /** The card's last line, without icon and colour. */
  readonly sentence: string;
}
