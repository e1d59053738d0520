/** What a command that traces pods was given. */
import type { ConnectOptions } from '../kube/connect-options.ts';
import type { Mode } from '../model/observation.ts';
import type { ProbeSettings } from '../probe/target.ts';
import type { Policy } from '../verdict/policy.ts';
import type { LookOptions } from './run.ts';
import type { Format } from './formats.ts';
import type { Publish } from './documents.ts';
import type { ReportFile } from './writable.ts';
import type { AnyTarget, Pick } from './target.ts';

export interface TraceOptions {
  /** The command line as the report repeats it. */
  command?: string;
  connection: ConnectOptions;
  target: AnyTarget;
  /** Which pod, where the target has several. */
  pick?: Pick;
  ignoreNotFound: boolean;
  /** Ask before anything is deleted. */
  interactive: boolean;
  /** Ask at a terminal. */
  confirm?: boolean;
  /** Delete and trace nothing: --dry-run, --wait=false. */
  once?: { dryRun: 'none' | 'client' | 'server'; nameOnly: boolean };
  mode: Exclude<Mode, 'check'>;
  /** Sent with the request; null leaves it to the pod. */
  graceSeconds: number | null;
  /** A grace flag was given: then a pod that is already terminating gets one more DELETE. */
  insist: boolean;
  /** ms; null: never; absent: never at a terminal, else effective grace + 120 s. */
  timeoutMs?: number | null;
  waitReplacement: boolean;
  /** Requests that are sent meanwhile. */
  probes?: readonly ProbeSettings[];
  /** Ask again for as long as a budget refuses the eviction. */
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

/** What tracing one pod needs, however it was chosen. */
export type ExitOptions = Omit<
  TraceOptions,
  'connection' | 'target' | 'pick' | 'ignoreNotFound' | 'interactive' | 'once'
>;
