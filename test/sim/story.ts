/**
 * The description of a pod's exit. A Story is declarative and complete, so that it can be printed and simulated again.
 * Times are ms; `atMs` counts from the trigger (the moment when the client, or whatever deletes the pod, acts).
 */
import type { ClockStory } from './clock.ts';
import type { Resource } from './rows.ts';

/** A range of latencies, drawn from for each use; equal ends give a fixed one. ms. */
export type Span = readonly [number, number];

export interface Story {
  seed: number;
  /** Also the namespace. */
  name: string;
  about: string;
  /** The true time when the recording begins, ms since the epoch. */
  beganAt: number;
  clocks: Record<ClockName, ClockStory>;
  pod: PodStory;
  containers: ContainerStory[];
  services: ServiceStory[];
  owner: OwnerStory;
  trigger: TriggerStory;
  later: LaterStory[];
  faults: FaultStory[];
  kubelet: KubeletStory;
  runtime: RuntimeStory;
  network: NetworkStory;
  events: EventsStory;
  /** Whether the recorder may read the node's Lease: many Roles do not allow it. */
  readsLeases: boolean;
  /** The recorder stops this long after the object and its containers are gone. */
  tailMs: number;
  /** The recorder stops at the latest this long after the beginning. */
  limitMs: number;
}

export const clockNames = ['api', 'node', 'controller', 'client'] as const;
export type ClockName = (typeof clockNames)[number];

export interface PodStory {
  name: string;
  /** spec.terminationGracePeriodSeconds. */
  graceSeconds: number;
  /** The pod's state when the recording begins. */
  state: 'running' | 'unscheduled' | 'never-started' | 'finished';
  finalizers: string[];
}

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT';

export interface ContainerStory {
  name: string;
  kind: 'container' | 'sidecar';
  /** `crashed`: it exited with `code` before the deletion and waits for its restart. */
  state: { kind: 'running' } | { kind: 'crashed'; code: number } | { kind: 'waiting'; reason: string };
  preStop?: HookStory;
  /** The image's STOPSIGNAL, which the API does not show (SIGNALS.md §2 S8). */
  stopSignal: StopSignal;
  readiness?: { periodMs: number; failureThreshold: number; phaseMs: number };
  app: AppStory;
  /** The recorder follows its log. */
  logged: boolean;
}

/**
 * SIGNALS.md §2 S6. `takesMs` null: it never ends by itself. `fails`: it ends with an error. `stopsAppMs`: this long
 * after its start it stops the application like a signal would (`kill -TERM 1`, `nginx -s quit`).
 */
export type HookStory =
  | { kind: 'exec' | 'httpGet'; takesMs: number | null; fails: boolean; stopsAppMs?: number }
  | { kind: 'sleep'; seconds: number }
  | { kind: 'tcpSocket' };

export interface AppStory {
  onSignal: Reaction;
  /** The application exits by itself at `atMs`, whatever else happens. */
  ownExit?: { atMs: number; code: number };
  /** The container is gone when the kubelet looks for it: ContainerStatusUnknown. */
  lost: boolean;
  /** The line that it wrote when it started. */
  bootLine?: string;
  lines: { atMs: number; text: string }[];
  saysOnSignal?: { afterMs: number; text: string };
  saysBeforeExit?: { beforeMs: number; text: string };
  /** It stops listening this long after the signal; always when it exits. */
  closesAfterMs?: number;
}

/** How PID 1 reacts to its stop signal (SIGNALS.md §5 "Exit codes"). */
export type Reaction =
  | { kind: 'exits'; afterMs: number; code: number }
  | { kind: 'dies' }
  | { kind: 'ignores' }
  | { kind: 'oom'; afterMs: number }
  | { kind: 'child-oom'; afterMs: number; code: number };

export interface ServiceStory {
  name: string;
  families: ('IPv4' | 'IPv6')[];
  publishNotReadyAddresses: boolean;
  headless: boolean;
  /** The number of other ready pods behind it, of other owners. */
  others: number;
}

export type OwnerStory =
  | { kind: 'none' }
  /** `replicas` includes the pod of the story. */
  | { kind: 'deployment'; name: string; replicas: number; readyAfterMs: number }
  | { kind: 'statefulset'; name: string; readyAfterMs: number }
  | { kind: 'job'; name: string };

export type TriggerStory = { atMs: number } & (
  | { kind: 'this-command'; graceSeconds: number | null; uid: boolean }
  /** A DELETE by another client than the recorder. */
  | { kind: 'unknown'; graceSeconds: number | null }
  | { kind: 'eviction-api' }
  | { kind: 'preemption' }
  | { kind: 'taint' }
  | { kind: 'device-taint' }
  | { kind: 'pod-gc' }
  | { kind: 'rollout' }
  | { kind: 'scale-down' }
  | { kind: 'owner-deleted' }
  | { kind: 'job' }
  | { kind: 'namespace-deletion' }
);

export type LaterStory =
  { kind: 'delete'; atMs: number; graceSeconds: number | null } | { kind: 'remove-finalizers'; atMs: number };

export type FaultStory =
  | { kind: 'kubelet-restart'; atMs: number; downMs: number }
  /** The kubelet freezes; containers keep running. null: forever. */
  | { kind: 'freeze'; atMs: number; forMs: number | null }
  | { kind: 'log-break'; atMs: number }
  /** The controller manager freezes: EndpointSlices do not change, no replacement is created. null: forever. */
  | { kind: 'controllers-paused'; atMs: number; forMs: number | null }
  /** The API server is busy: each change is delivered later, by a delay drawn from `lagMs`. */
  | { kind: 'api-busy'; atMs: number; forMs: number; lagMs: Span }
  /** The API server refuses Events meanwhile; their emitters send them again afterwards (SIGNALS.md §2.1). */
  | { kind: 'events-refused'; atMs: number; forMs: number };

interface KubeletStory {
  /** From the object's change to the kill: ms, or 0.5 to 2 s if it has just synced this pod (SIGNALS.md §0 #3). */
  noticeMs: Span;
  /** From there to the patch that acknowledges the deletion; it races with Killing. */
  ackMs: Span;
  sandboxMs: Span;
  /** The clean-up of volumes and cgroups. */
  cleanupMs: Span;
  /** The kubelet also sends a status patch that means nothing (SIGNALS.md §0 #8). */
  patchesResources: boolean;
  /** The number of attempts to kill that fail first (S11). */
  failedKills: number;
}

interface RuntimeStory {
  /** From the kubelet's call to the signal: ms; up to seconds on loaded nodes and in sandboxes. */
  signalLagMs: Span;
  killLagMs: Span;
  /** From a container's exit until its stop call returns. */
  returnMs: Span;
}

export interface NetworkStory {
  /** One way to the API server. */
  requestMs: Span;
  watchMs: Partial<Record<Resource, Span>>;
  logMs: Span;
}

interface EventsStory {
  /** From an Event's timestamp to its arrival at the API server. */
  queueMs: Span;
  /** Reasons of Events that the emitter's spam filter or queue drops (SIGNALS.md §2.1). */
  dropped: string[];
}
