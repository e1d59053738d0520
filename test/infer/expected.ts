/** What the report of every recording must contain: outcome, containers in order of exit, trigger, findings. */
import type { ContainerOutcome, FindingCode, Outcome, TriggerKind } from '../../src/model/report.ts';

export interface Expected {
  outcome: Outcome;
  /** The exit code of podexit. */
  exitCode: number;
  containers: Record<string, ContainerOutcome>;
  trigger: TriggerKind;
  findings: FindingCode[];
  without?: FindingCode[];
}

const ours = { trigger: 'this-command' } as const;
const completed = { outcome: 'graceful', exitCode: 0, containers: { app: 'completed' } } as const;
const killed = { outcome: 'killed', exitCode: 2, containers: { app: 'killed' } } as const;
const removed = { outcome: 'removed', exitCode: 0, containers: { app: 'not-running' } } as const;

export const expected: Record<string, Expected> = {
  'graceful-exit': { ...completed, ...ours, findings: ['drain-race'], without: ['last-endpoint'] },
  'sigkill-after-grace': { ...killed, ...ours, findings: ['killed-at-grace', 'no-signal-handling'] },
  'no-grace-spec-default': { ...killed, ...ours, findings: ['killed-at-grace', 'no-signal-handling', 'last-endpoint'] },
  'exit-143': {
    ...ours,
    outcome: 'graceful',
    exitCode: 0,
    containers: { app: 'signalled' },
    findings: ['drain-race', 'last-endpoint'],
  },
  'prestop-sleep': { ...completed, ...ours, findings: ['last-endpoint'], without: ['drain-race'] },
  'prestop-exceeds-grace': {
    ...ours,
    outcome: 'overran',
    exitCode: 2,
    containers: { app: 'completed' },
    findings: ['prestop-cut-off'],
    without: ['prestop-failed'],
  },
  'prestop-fails': { ...completed, ...ours, findings: ['prestop-failed'] },
  'multi-container': {
    ...ours,
    outcome: 'killed',
    exitCode: 2,
    containers: { worker: 'signalled', web: 'completed', legacy: 'killed' },
    findings: ['killed-at-grace'],
  },
  'native-sidecar': {
    ...ours,
    outcome: 'graceful',
    exitCode: 0,
    containers: { app: 'completed', logs: 'completed', proxy: 'completed' },
    findings: [],
    without: ['sidecar-killed'],
  },
  finalizer: { ...completed, ...ours, findings: ['finalizer-held'] },
  'force-delete': {
    ...ours,
    outcome: 'forced',
    exitCode: 2,
    containers: { app: 'abandoned' },
    findings: ['force-deleted'],
  },
  pending: { ...removed, ...ours, findings: [], without: ['node-silent'] },
  completed: { ...removed, ...ours, findings: [], without: ['node-silent'] },
  crashloop: { ...removed, ...ours, findings: [] },
  statefulset: { ...completed, ...ours, findings: ['last-endpoint'] },
  evicted: { ...completed, trigger: 'eviction-api', findings: [] },
  'taint-evicted': { ...completed, trigger: 'taint', findings: [] },
  'two-services': { ...completed, ...ours, findings: ['stays-ready', 'last-endpoint'] },
  'rolling-update': { ...completed, trigger: 'rollout', findings: [] },
  'node-down': { ...completed, ...ours, findings: ['node-silent'] },
  'kubelet-restart': { ...completed, ...ours, findings: ['kubelet-restarted'] },
  preempted: { ...completed, trigger: 'preemption', findings: [] },
  'owner-deleted': { ...completed, trigger: 'owner-deleted', findings: [] },
  'grace-shortened': { ...killed, ...ours, findings: ['grace-shortened-ignored'] },
};

/** The second series: failures of the cluster, and deletions of several pods. A row holds for each of its pods. */
export const expectedOfSeries: Record<string, Omit<Expected, 'trigger'>> = {
  'apiserver-busy-delete': { ...completed, findings: [] },
  'close-call-137': {
    outcome: 'failed',
    exitCode: 2,
    containers: { app: 'failed' },
    findings: ['exit-nonzero', 'grace-nearly-spent'],
    without: ['killed-at-grace', 'no-signal-handling'],
  },
  'containerd-restart-ignoring-app': {
    ...killed,
    findings: ['killed-at-grace', 'no-signal-handling', 'runtime-unavailable', 'last-endpoint'],
    without: ['kubelet-restarted'],
  },
  'controller-manager-down': { ...completed, findings: ['endpoint-not-removed'], without: ['last-endpoint'] },
  'daemonset-rollout': { ...completed, findings: ['last-endpoint'] },
  'drain-with-pdb': { ...completed, findings: [] },
  'exec-hook-then-term': { ...completed, findings: ['last-endpoint'] },
  'forced-by-other': {
    outcome: 'forced',
    exitCode: 2,
    containers: { app: 'abandoned' },
    findings: ['force-deleted'],
  },
  'kubelet-frozen-in-exec-hook': { ...completed, findings: ['last-endpoint'], without: ['kubelet-restarted'] },
  'kubelet-frozen-in-sleep-hook': { ...completed, findings: ['last-endpoint'], without: ['kubelet-restarted'] },
  'oom-child': { ...completed, findings: ['oom-in-container'], without: ['oom-on-exit'] },
  'poststart-hang': { ...completed, findings: ['slow-start'], without: ['node-silent'] },
  'rollout-25': { ...completed, findings: [] },
  'scale-to-zero-40': { ...completed, findings: [], without: ['no-ready-endpoint', 'last-endpoint'] },
  'statefulset-rollout': { ...completed, findings: [] },
};
