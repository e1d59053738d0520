/**
 * What a pod's exit is made of: a Story is declarative and complete, so that it can be printed and simulated again. Times
 * are ms; those named `atMs` count from the trigger (the moment the client, or whatever deletes the pod, acts).
 */
import type { ClockStory } from './clock.ts';
import type { Resource } from './rows.ts';

/** A latency, drawn again for each use; equal ends fix it. ms. */
export type Span = readonly [number, number];

export interface Story {
  seed: number;
  /** Also the namespace. */
  name: string;
  about: string;
  /** True time of the recording's beginning, ms since the epoch. */
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
  /** The recorder stops so long after the object is gone (and its containers with it). */
  tailMs: number;
  /** The recorder stops then at the latest, counted from the beginning. */
  limitMs: number;
}

export const clockNames = ['api', 'node', 'controller', 'client'] as const;
export type ClockName = (typeof clockNames)[number];

export interface PodStory {
  name: string;
  /** spec.terminationGracePeriodSeconds. */
  graceSeconds: number;
  /** How far it has come when the recording begins. */
  state: 'running' | 'unscheduled' | 'never-started' | 'finished';
  finalizers: string[];
  runtimeClass?: string;
}

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGHUP' | 'SIGUSR1';

export interface ContainerStory {
  name: string;
  kind: 'container' | 'sidecar';
  /** `crashed`: it has ended with `code` before the deletion and waits for its restart. */
  state: { kind: 'running' } | { kind: 'crashed'; code: number } | { kind: 'waiting'; reason: string };
  preStop?: HookStory;
  /** The image's STOPSIGNAL: the API does not have it (SIGNALS.md §2 S8). */
  stopSignal: StopSignal;
  readiness?: { periodMs: number; failureThreshold: number; phaseMs: number };
  app: AppStory;
  /** Its log is followed by the recorder. */
  logged: boolean;
}

/**
 * SIGNALS.md §2 S6. `takesMs` null: it never ends by itself. `fails`: and then it says so. `stopsAppMs`: so long after its
 * start it makes the application stop (`kill -TERM 1`, `nginx -s quit`), as a signal would.
 */
export type HookStory =
  | { kind: 'exec' | 'httpGet'; takesMs: number | null; fails: boolean; stopsAppMs?: number }
  | { kind: 'sleep'; seconds: number }
  | { kind: 'tcpSocket' };

export interface AppStory {
  onSignal: Reaction;
  /** It ends by itself then, whatever else happens. */
  ownExit?: { atMs: number; code: number };
  /** Nothing is left of it when the kubelet looks: ContainerStatusUnknown. */
  lost: boolean;
  /** The line it wrote when it started. */
  bootLine?: string;
  lines: { atMs: number; text: string }[];
  saysOnSignal?: { afterMs: number; text: string };
  saysBeforeExit?: { beforeMs: number; text: string };
  /** It stops listening so long after the signal; it always does when it ends. */
  closesAfterMs?: number;
}

/** What PID 1 does with its stop signal (SIGNALS.md §5 "Exit codes"). */
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
  /** Other ready pods behind it that are not this owner's. */
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
  /** Some client's DELETE that the recorder had no part in. */
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
  /** The kubelet stands still; containers go on. null: for ever. */
  | { kind: 'freeze'; atMs: number; forMs: number | null }
  | { kind: 'log-break'; atMs: number }
  /** The controller manager stands still: EndpointSlices stay as they are, no replacement is created. null: for ever. */
  | { kind: 'controllers-paused'; atMs: number; forMs: number | null }
  /** The API server is busy: everything it has to say comes so much later, drawn again for each change. */
  | { kind: 'api-busy'; atMs: number; forMs: number; lagMs: Span }
  /** The API server takes no Events meanwhile; their emitters send them again after it (SIGNALS.md §2.1). */
  | { kind: 'events-refused'; atMs: number; forMs: number };

export interface KubeletStory {
  /** From the object's change to the kill: ms, or 0.5 to 2 s where it has just synced this pod (SIGNALS.md §0 #3). */
  noticeMs: Span;
  /** From there to the patch that acknowledges; it races with Killing. */
  ackMs: Span;
  sandboxMs: Span;
  /** Volumes and cgroup. */
  cleanupMs: Span;
  /** A status-only patch without meaning on the way (SIGNALS.md §0 #8). */
  patchesResources: boolean;
  /** The first so many attempts to kill fail (S11). */
  failedKills: number;
}

export interface RuntimeStory {
  /** From the kubelet's call to the signal: ms; up to seconds on loaded nodes and in sandboxes. */
  signalLagMs: Span;
  killLagMs: Span;
  /** From a container's end until its stop call has returned. */
  returnMs: Span;
}

export interface NetworkStory {
  /** One way to the API server. */
  requestMs: Span;
  watchMs: Partial<Record<Resource, Span>>;
  logMs: Span;
}

export interface EventsStory {
  /** From an Event's stamp to its arrival at the API server. */
  queueMs: Span;
  /** Reasons that the emitter's spam filter or queue loses (SIGNALS.md §2.1). */
  dropped: string[];
}
