/**
 * What a spec says about a pod's shutdown. Live pods, workloads and manifests are all read into this model, so that
 * the rules of `check` and `fix` see the same data. Plain data, no clock.
 */
import type { LabelSelector } from '../run/selectors.ts';
import type { CommandLine, SignalHandling } from '../model/observe/command-line.ts';

/** Keys and indexes from the root of an object down to one of its fields, as in `spec.containers[0].lifecycle`. */
export type Path = readonly (string | number)[];

/** The object that is judged. */
export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}

export interface Hook {
  kind: 'exec' | 'httpGet' | 'sleep' | 'tcpSocket';
  /** Empty unless `kind` is exec. */
  command: readonly string[];
  /** The least time that the hook takes, if its definition shows it: a sleep, alone or among other commands. */
  minSeconds?: number;
  /** The hook only sleeps for `minSeconds`. */
  isPlainSleep: boolean;
}

export interface ProbeSpec {
  /** The probe's own grace period for the restarts that it causes, in seconds. */
  graceSeconds?: number;
}

/** What `check --inspect` read from PID 1. */
export type Inspection =
  { kind: 'read'; command: string; handling: SignalHandling } | { kind: 'unreadable'; because: string };

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
  ports: readonly { name?: string; port: number; protocol: string; hostPort?: number }[];
  /** `lifecycle.stopSignal`, by name; needs a cluster with that feature. */
  stopSignal?: string;
  inspection?: Inspection;
  /** False only in a live pod, for a container that has terminated and is not restarted. */
  runs: boolean;
}

/** An object that selects pods by their labels. */
export interface Selecting {
  name: string;
  namespace?: string;
  /** Undefined: it selects no pod. */
  selector?: LabelSelector;
  /** It also selects pods of other workloads. */
  isShared?: boolean;
}

/** The number or the name of a container's port. */
export interface TargetPort {
  port: number | string;
  protocol: string;
}

export interface ServiceSpec extends Selecting {
  targetPorts: readonly TargetPort[];
  publishNotReadyAddresses: boolean;
  /** Other endpoints that are ready now; only for a live pod. */
  otherReady?: number;
}

export interface BudgetSpec extends Selecting {
  minAvailable?: number | string;
  maxUnavailable?: number | string;
  /** Policy AlwaysAllow: pods that are not ready may always be evicted. */
  evictsUnready: boolean;
  /** Pods, according to its status; only in a cluster. `desired`: as many healthy ones must stay. */
  counts: { allowed: number; healthy: number; desired: number };
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
  /** The path of the pod's spec in the object. */
  podPath: Path;
  /** The requested grace period, else the spec's, else 30. */
  graceSeconds: number;
  /** terminationGracePeriodSeconds as written in the spec. */
  specGraceSeconds?: number;
  containers: readonly ContainerSpec[];
  /** shareProcessNamespace: no container has PID 1, so a signal without a handler ends it. */
  sharesProcesses: boolean;
  hostNetwork: boolean;
  /** Undefined for kinds without replicas, and if an autoscaler sets them. */
  replicas?: number;
  update?: UpdateSpec;
  services: readonly ServiceSpec[];
  budgets: readonly BudgetSpec[];
  finalizers: readonly string[];
  /** A pod that no controller owns. */
  isUnmanaged: boolean;
  /** The pod has finished: deleting it stops nothing. */
  isFinished: boolean;
  /** No container of the live pod runs at this moment. */
  notRunningNow?: boolean;
  /** The node's Ready condition if it is not True; only for a live pod. */
  nodeNotReady?: { node: string; status: string };
  /** What could not be read, so it is not judged. */
  unread: readonly { what: string; because: string }[];
  /** The spec is from files; the cluster may have Services that are not in them. */
  mayHaveOtherServices: boolean;
}
