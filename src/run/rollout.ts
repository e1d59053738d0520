/** What the parts of a run over several pods share beside their traces. */
import type { Cluster } from '../kube/cluster.ts';
import type { PodexitError } from '../errors.ts';
import type { ExitReport } from '../model/report.ts';
import type { Deadline } from './deadline.ts';
import type { Ports } from './ports.ts';
import type { Progress } from './rollout-progress.ts';
import type { ExitOptions } from './trace-options.ts';
import type { WaitingLimit } from './waiting-limit.ts';

/** A run from its first watch to its summary. */
export interface Rollout {
  readonly cluster: Cluster;
  readonly options: ExitOptions;
  readonly ports: Ports;
  readonly deadline: Deadline;
  readonly progress: Progress;
  /** Where no --timeout was given. */
  readonly limit: WaitingLimit;
  /** Aborted when no further pod is wanted; those that are being traced go on to their end. */
  readonly stop: AbortController;
  /** Uids of pods that were seen to terminate. */
  readonly begun: Set<string>;
  readonly reports: ExitReport[];
  /** Names of those that went without a report, by uid. */
  readonly unseen: Map<string, string>;
  /** Why the run could not go on: what started the rollout failed, or it stalled. */
  failure: PodexitError | undefined;
  /** Exit codes of all that is no report: files that could not be written, a signal. */
  readonly codes: number[];
}
