/** The options of a live run, and what its parts share. */
import { PodexitError } from '../../errors.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { TransportFailure } from '../../kube/http/failure.ts';
import type { Deliver, Mode, RawObservation, StreamName } from '../../model/observation.ts';
import type { Trace } from '../../model/trace.ts';
import type { Clock } from '../../output/ports.ts';
import type { Group, GroupListener } from '../group/group.ts';
import type { Suspension, StreamHealth } from './stream-health.ts';
import type { ProxiedPod } from '../../probe/http.ts';
import type { TraceOptions } from '../options.ts';

/** The options of the command that the run needs. */
export type CommandOptions = Pick<TraceOptions, 'mode' | 'graceSeconds' | 'insist' | 'waitReplacement' | 'followLogs'> &
  Partial<Pick<TraceOptions, 'retryEvict' | 'probes' | 'command'>>;

export interface LiveOptions extends CommandOptions {
  cluster: Cluster;
  clock: Clock;
  group: Group;
  listener?: GroupListener;
  /** ms; null: never; `by-grace`: effective grace + 120 s. */
  timeoutMs: number | null | 'by-grace';
  /** Client ms at which `timeoutMs` is over, if some of it was spent before the run. */
  until?: number | undefined;
  /** Version of the program; probes send it as their user agent. */
  version?: string;
  warn(message: string): void;
}

/** The probes of a run (probing.ts). */
export interface Probing {
  /** Resolves when every target has answered for a second; rejects with PodexitError `probe.not-answering`. */
  readonly ready: Promise<void>;
  /** Starts to probe a terminating pod, if `pod` is a target. */
  open(pod: ProxiedPod): void;
  /** Stops probing a pod that is gone. */
  close(uid: string): void;
  /** Delivers the counts so far. */
  flush(): void;
  /** Probes on until the pod is gone and its replacement ready; resolves when the last request is answered. */
  finish(): Promise<void>;
}

/** What all parts of one run share. */
export interface Run {
  readonly options: LiveOptions;
  readonly group: Group;
  readonly listener: GroupListener;
  /** Aborted when the run is over. */
  readonly signal: AbortSignal;
  readonly streams: StreamHealth;
  readonly timers: Map<string, () => void>;
  /** Streams whose refusal has been reported on stderr. */
  readonly warned: Set<StreamName>;
  /** A DELETE (or an eviction) has been sent. */
  requested: boolean;
  /** Present while probes send requests. */
  probing: Probing | undefined;
  /** The probes are sending their last requests. */
  isProbingOver?: boolean;
  /** Called when a trace first shows the deletion of its pod. */
  onDeletion: ((trace: Trace) => void) | undefined;
  /** The newest trace of a pod's uid; in a group of one, its trace whatever the key. */
  traceOf(this: void, key: string): Trace | undefined;
  traces(this: void): Trace[];
  /** The field that names the pod in an observation; empty in a group of one. */
  ofPod(this: void, uid: string): { pod?: string };
  /** Observations are held back until `begin`. */
  readonly deliver: Deliver;
  /** Delivers `began`, before everything that was seen so far: its mode is known only after the pod was read. */
  begin(this: void, mode: Mode): void;
  readonly suspension: Suspension;
  /** Ends the run with what was delivered. */
  end(this: void): void;
  fail(this: void, error: unknown): void;
  /** Delivers one last raw observation and ends the run. */
  endWith(this: void, rawObservation: RawObservation): void;
}

/** A stream that failed permanently becomes a gap. An unexpected error ends the run, with its stack. */
export function reportLoss(
  { options, signal, deliver, fail }: Run,
  stream: { stream: StreamName; container?: string; pod?: string },
  error: unknown,
): void {
  if (signal.aborted) return;
  if (!(error instanceof PodexitError || error instanceof TransportFailure)) return fail(error);
  const at = options.clock.now();
  deliver({ at, kind: 'gap', ...stream, from: at, cause: 'disconnected' });
}

/** Warns once for each stream that the report needs; the loss of others is mentioned in the report alone. */
export function warnRefused(
  { options, warned }: Run,
  { verb, resource, group, stream, status }: Extract<RawObservation, { kind: 'refused' }>,
): void {
  const lost = lossWithout[stream];
  if (lost === undefined || warned.has(stream)) return;
  warned.add(stream);
  const of = group === '' ? resource : `${resource}.${group}`;
  options.warn(
    status === 403
      ? `no permission to ${verb} ${of}: ${lost}`
      : `the server refuses to ${verb} ${of} (${status}): ${lost}`,
  );
}

const lossWithout: Partial<Record<StreamName, string>> = {
  services: 'traffic is not observable',
  endpointslices: 'traffic is not observable',
  events: 'the start of the termination and hooks are approximate',
  logs: 'SIGTERM and exit times are approximate',
  node: 'node failures are not observable',
  owner: 'the cause of the deletion may stay unknown',
  pods: 'the replacement is not observable',
};
