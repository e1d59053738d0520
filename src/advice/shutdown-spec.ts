/**
 * What a spec says about a pod's shutdown: the one model that a live pod, a workload's template and a manifest are read
 * into, so that every rule of `check`, `fix` and the advice of a verdict sees the same. Plain data, no clock.
 */
import type { CommandLine } from './command-line.ts';

/** Keys and indexes from the root of an object down to one of its fields, as in `spec.containers[0].lifecycle`. */
export type Path = readonly (string | number)[];

/** The object that is judged. `file` and `line` are there where it was read from a manifest. */
export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
  file?: string;
  line?: number;
}

export interface Hook {
  kind: 'exec' | 'httpGet' | 'sleep' | 'tcpSocket';
  /** Of an exec hook. */
  command: readonly string[];
  /** How long it takes at least, where its definition says so: a sleep, alone or among other commands. */
  leastSeconds?: number;
  /** `leastSeconds` is all that it does. */
  isPlainSleep: boolean;
}

export interface ProbeSpec {
  /** The probe's own grace period for the restarts that it causes, in seconds. */
  graceSeconds?: number;
}

/** What `check --inspect` read of PID 1. */
export type Inspection =
  | { kind: 'handles' | 'blocked' | 'ignores'; command: string }
  | { kind: 'no-handler'; command: string; isShell: boolean }
  | { kind: 'unreadable'; because: string };

export interface ContainerSpec {
  name: string;
  /** A sidecar is an init container with restartPolicy Always. */
  kind: 'main' | 'sidecar' | 'init';
  path: Path;
  image: string;
  command: CommandLine;
  hook?: Hook;
  readiness?: ProbeSpec;
  liveness?: ProbeSpec;
  ports: readonly { name?: string; port: number; hostPort?: number }[];
  /** `lifecycle.stopSignal`: by name, where the cluster has that feature. */
  stopSignal?: string;
  inspection?: Inspection;
  /** False only in a live pod whose status says that it waits or has ended. */
  runs: boolean;
}

export interface ServiceSpec {
  name: string;
  targetPorts: readonly (number | string)[];
  publishNotReadyAddresses: boolean;
  /** Other ready endpoints now; only of a live pod. */
  otherReady?: number;
}

export interface BudgetSpec {
  name: string;
  minAvailable?: number | string;
  maxUnavailable?: number | string;
  /** What the API server would answer to an eviction of the live pod. */
  ruling?: { refused: boolean; because?: string; text: string };
}

/** How a rollout replaces the pods of a workload. */
export interface UpdateSpec {
  kind: 'RollingUpdate' | 'Recreate' | 'OnDelete';
  maxUnavailable?: number | string;
  maxSurge?: number | string;
}

export interface ShutdownSpec {
  subject: Subject;
  /** Where the pod's spec lies in the object. */
  podPath: Path;
  /** Seconds: what was asked for, else the spec's, else 30. */
  graceSeconds: number;
  /** terminationGracePeriodSeconds as it is written. */
  specGraceSeconds?: number;
  containers: readonly ContainerSpec[];
  /** Then no container is PID 1 of its namespace, and a signal without a handler ends it. */
  sharesProcesses: boolean;
  hostNetwork: boolean;
  /** The workload's; undefined for a pod, a DaemonSet and where an autoscaler decides. */
  replicas?: number;
  update?: UpdateSpec;
  services: readonly ServiceSpec[];
  budgets: readonly BudgetSpec[];
  finalizers: readonly string[];
  /** A pod that no controller owns. */
  isUnmanaged: boolean;
  /** A pod that has finished: its deletion stops nothing. */
  isIdle: boolean;
  /** A pod of which no container runs at this moment. */
  notRunningNow?: boolean;
  /** The node's Ready condition, where it is not True; only of a live pod. */
  nodeNotReady?: { node: string; status: string };
  /** What could not be read: nothing is said of it. */
  unread: readonly { what: string; because: string }[];
  /** Files hold no Service that selects it; the cluster may. */
  mayHaveOtherServices: boolean;
}
