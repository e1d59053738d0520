/** A Deployment `web` whose controller is a script: each step is a change of it or of one of its pods, over HTTP. */
import type { PatientServing } from '../../helpers/serving-patiently.ts';

type Raw = Record<string, unknown>;

export type Step =
  | { kind: 'wait'; ms: number }
  /** Absent fields keep their value. */
  | { kind: 'deployment'; generation?: number; spec?: Raw; status?: Raw; conditions?: Raw[] }
  /** An Event about a pod. */
  | { kind: 'event'; pod: string; reason: string; message?: string }
  /** `name`: `web-HASH-SUFFIX`. */
  | { kind: 'pod'; name: string; is: PodState };

export type PodState =
  'ready' | 'unready' | 'ContainerCreating' | 'CrashLoopBackOff' | 'crashed' | 'terminating' | 'exited' | 'gone';

export const wait = (ms: number): Step => ({ kind: 'wait', ms });
export const pod = (name: string, is: PodState): Step => ({ kind: 'pod', name, is });
export const deployment = (change: Omit<Extract<Step, { kind: 'deployment' }>, 'kind'>): Step => ({
  kind: 'deployment',
  ...change,
});

/** All pods have the newest revision and are ready. */
export const rolledOut = (generation: number, replicas: number): Step =>
  deployment({
    generation,
    status: {
      observedGeneration: generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    },
  });

/** The termination of one pod: 0.6 s between its states. */
export const ends = (...names: string[]): Step[] =>
  (['terminating', 'exited', 'gone'] as const).flatMap((is) => [...names.map((name) => pod(name, is)), wait(600)]);

export interface Player {
  play(steps: readonly Step[]): Promise<void>;
}

export function scriptedRollout({ server, clock, pause }: PatientServing): Player {
  const { namespace } = server;
  const stamp = (afterMs = 0): string => stampOf(clock.now() + afterMs);
  const common = { namespace, creationTimestamp: stamp() };
  let owner: { generation: number; spec: Raw; status: Raw } = { generation: 1, spec: { replicas: 1 }, status: {} };
  const pods = new Map<string, Raw>();
  const seen = new Set<string>();
  const write = (resource: string, name: string, object: Raw, isGone = false): void => {
    const type = isGone ? 'DELETED' : seen.has(name) ? 'MODIFIED' : 'ADDED';
    seen.add(name);
    // The kubelet removes a pod with a grace period of 0.
    const removed = { ...(object['metadata'] as Raw), deletionGracePeriodSeconds: 0 };
    server.write(resource, type, (isGone ? { ...object, metadata: removed } : object) as never);
  };
  const change = (step: Step): void => {
    if (step.kind === 'deployment') {
      const { generation = owner.generation, spec, status, conditions } = step;
      owner = { generation, spec: { ...owner.spec, ...spec }, status: { ...owner.status, ...status } };
      if (conditions) owner.status['conditions'] = conditions;
      const metadata = { ...common, name: 'web', uid: 'web', generation, labels: { app: 'web' } };
      const selector = { matchLabels: { app: 'web' } };
      const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };
      write('deployments', 'web', { ...kind, metadata, spec: { selector, ...owner.spec }, status: owner.status });
    }
    if (step.kind === 'event') {
      const about = { kind: 'Pod', namespace, name: step.pod, uid: step.pod };
      const name = `${step.pod}.1`;
      const times = { firstTimestamp: stamp(), lastTimestamp: stamp(), count: 1 };
      const source = { component: 'kubelet' };
      write('events', name, {
        metadata: { ...common, name, uid: name },
        involvedObject: about,
        reason: step.reason,
        message: step.message,
        source,
        ...times,
      });
    }
    if (step.kind === 'pod') {
      const object = podObject(step.name, step.is, stamp, common, pods.get(step.name));
      pods.set(step.name, object);
      write('pods', step.name, object, step.is === 'gone');
    }
  };
  return {
    async play(steps) {
      for (const step of steps)
        if (step.kind === 'wait') await pause(step.ms);
        else change(step);
    },
  };
}

function podObject(name: string, is: PodState, stamp: Stamp, common: Raw, before: Raw | undefined): Raw {
  const [, hash = ''] = name.split('-');
  const isLeaving = is === 'terminating' || is === 'exited' || is === 'gone';
  const metadata = {
    ...common,
    name,
    uid: name,
    generateName: `web-${hash}-`,
    labels: { app: 'web', 'pod-template-hash': hash },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${hash}`, uid: hash, controller: true }],
    ...(isLeaving ? deletionOf(stamp, before) : {}),
  };
  const status = {
    name: 'app',
    ready: is === 'ready' || is === 'terminating',
    restartCount: 0,
    state: stateOf(is, stamp, before),
  };
  const isReady = status.ready ? 'True' : 'False';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { nodeName: 'node1', terminationGracePeriodSeconds: 30, containers: [{ name: 'app', image: 'app:1' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady }], containerStatuses: [status] },
  };
}

/** The fields that a deletion sets; those of an earlier deletion are kept. */
function deletionOf(stamp: Stamp, before: Raw | undefined): Raw {
  const { deletionTimestamp } = (before?.['metadata'] ?? {}) as Raw;
  return { deletionTimestamp: deletionTimestamp ?? stamp(30_000), deletionGracePeriodSeconds: 30 };
}

function stateOf(is: PodState, stamp: Stamp, before: Raw | undefined): Raw {
  if (is === 'CrashLoopBackOff' || is === 'ContainerCreating') return { waiting: { reason: is } };
  if (is === 'crashed') return { terminated: { exitCode: 1, reason: 'Error' } };
  if (is === 'ready' || is === 'unready' || is === 'terminating') return { running: { startedAt: stamp(-60_000) } };
  const [{ state = {} } = {}] = (((before ?? {})['status'] as Raw)['containerStatuses'] ?? []) as { state?: Raw }[];
  if (state['terminated'] !== undefined) return state;
  return { terminated: { exitCode: 0, reason: 'Completed', startedAt: stamp(-60_000), finishedAt: stamp() } };
}

/** The time in so many ms. */
type Stamp = (afterMs?: number) => string;

/** Whole seconds, as Kubernetes writes them. */
const stampOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
