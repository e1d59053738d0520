/** The options of a command that traces pods. */
import type { ConnectOptions } from '../kube/connect-options.ts';
import type { Mode } from '../model/observation.ts';
import type { ProbeSettings } from '../probe/target.ts';
import type { Policy } from '../verdict/policy.ts';
import type { LookOptions } from '../output/view.ts';
import type { Format, ReportFile } from '../output/formats.ts';
import type { Publish } from '../output/publish.ts';
import type { Pick, SeveralTarget, Target } from './choosing/target.ts';
import type { RolloutStart } from './progress/start.ts';

/** --dry-run or --wait=false: delete, and trace nothing. */
export interface Once {
  /** `none`: the pod is really deleted. */
  dryRun: 'none' | 'client' | 'server';
  /** `-o name`. */
  nameOnly: boolean;
}

/** The pods that a command traces: one, the next that terminates, or all that terminate. */
export type TracedPods = { pods: 'one'; target: Target } | { pods: 'next' | 'all'; target: SeveralTarget };

export type TraceOptions = TracedPods & TraceSettings;

interface TraceSettings {
  /** The command line, repeated in the report. */
  command?: string;
  connection: ConnectOptions;
  /** Which pod to trace if the target has several. */
  pick?: Pick;
  ignoreNotFound: boolean;
  /** Ask before anything is deleted. */
  interactive: boolean;
  /** Ask if stdin and stderr are a terminal. */
  confirm?: boolean;
  once?: Once;
  /** The command that the run starts when its streams are in sync, and follows. */
  start?: RolloutStart | undefined;
  mode: Exclude<Mode, 'check'>;
  /** Sent with the request; null: the pod's own grace period. */
  graceSeconds: number | null;
  /** A grace flag was given: a pod that is already terminating gets one more DELETE. */
  insist: boolean;
  /** ms; null: never; absent: never at a terminal, else effective grace + 120 s. */
  timeoutMs?: number | null;
  waitReplacement: boolean;
  /** Probes to send during the run. */
  probes?: readonly ProbeSettings[];
  /** Send the eviction again while a budget refuses it. */
  retryEvict: boolean;
  followLogs: boolean;
  /** Show and record the text of log lines. */
  logText: boolean;
  format: Format;
  look: LookOptions;
  record?: string;
  reports: readonly ReportFile[];
  policy: Policy;
  publish: Publish;
  verbosity: number;
}
