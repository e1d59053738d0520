/**
 * How far a rollout has got: its owners, which they are and how far each has rolled out, its terminating pods, and when
 * nothing more is expected of either.
 */
import { type JsonObject, asObject, metadataOf } from '../../model/observe/read.ts';
import { delay, type Env } from '../../kube/env.ts';
import { forTerminal } from '../../output/safe-text.ts';
import {
  isFinishedPod,
  isTerminatingPod,
  uidOf,
  deploymentOf,
  nameOf,
  objectsIn,
  ownerOf,
  rawConditionOf,
  type Watched,
} from '../streams/watched.ts';
import type { Obstacles } from './obstacles.ts';
import type { GroupListener } from '../group/group.ts';
import { workloadKinds, workloadText, type SeveralTarget, type WorkloadResource } from '../choosing/target.ts';

/** ms without a change of the pods after which a rollout with an unknown end is no longer waited for. */
export const quietMs = 60_000;

/** `quiet`: the end of the rollout is unknown, and nothing changed for long. `left`: by a limit, signal or failure. */
export type RolloutEnd = 'done' | 'quiet' | 'left';

type Progress = ReturnType<typeof createProgress>;

/** `running`: the number of open traces. */
export function createProgress(running: () => number, warn: (sentence: string) => void) {
  /** By `deployment/checkout`: whether the owner has rolled out. */
  const owners = new Map<string, boolean>();
  const notFollowed = new Set<string>();
  const terminating = new Set<string>();
  /** Why the rollout is not over, whatever its owners and pods show. */
  const holds = new Set(['its owners are not known', 'it has not begun']);
  /** Streams that are not alive: there silence does not mean that nothing happens. */
  const lost = new Set<string>();
  /** Pods whose trace has ended. */
  const traced = new Set<string>();
  /** The pods from the start that exist and have not been traced; undefined until the pods are listed. */
  let first: Set<string> | undefined;
  const changes = createChanges();
  let hasReportedWait = false;
  const release = (what: string): void => void (holds.delete(what), changes.ofPods());
  const begun = (): void => release('it has not begun');
  const setAlive = (stream: string, isAlive: boolean): void =>
    void (isAlive ? lost.delete(stream) : lost.add(stream), changes.ofPods());
  /** Nothing more is expected of the pod. */
  const leave = (uid: string): void => void (first?.delete(uid), terminating.delete(uid));
  const pending = (): string[] => [...owners].flatMap(([owner, isDone]) => (isDone ? [] : [owner]));
  const isIdle = (): boolean => terminating.size === 0 && running() === 0;
  /** Whether the end of the rollout can be known. */
  const isEndKnown = (): boolean => notFollowed.size === 0 || first?.size === 0;
  const isOver = (): boolean => holds.size + lost.size === 0 && isIdle() && [...owners.values()].every(Boolean);
  return {
    follows: (owner: string): boolean => owners.has(owner),
    ownerSeen: (owner: string, isDone: boolean): void => void (owners.set(owner, isDone), changes.ofOwners()),
    /** It is unknown when this owner (in words) has rolled out. */
    ownerNotFollowed(owner: string): void {
      if (!notFollowed.has(owner)) warn(notFollowedText(owner));
      notFollowed.add(owner);
      changes.ofOwners();
    },
    /** The rollout has begun, even if it makes no pod terminate. */
    begun,
    /** Keeps the rollout open until `release`: for a running command, or a named pod. */
    hold: (what: string): void => void holds.add(what),
    release,
    ownersKnown: (): void => release('its owners are not known'),
    listed(pods: readonly JsonObject[]): void {
      const isFromStart = (pod: JsonObject): boolean => (first ? first.has(uidOf(pod)) : !isFinishedPod(pod));
      first = new Set(pods.filter(isFromStart).map(uidOf));
      changes.ofPods();
    },
    /** Takes a state of a pod; undefined if it is gone. */
    seen(uid: string, pod: JsonObject | undefined): void {
      if (!pod) leave(uid);
      else if (!traced.has(uid) && isTerminatingPod(pod)) {
        terminating.add(uid);
        begun();
      }
      changes.ofPods();
    },
    podsAlive: (isAlive: boolean): void => setAlive('pods', isAlive),
    ownerAlive: setAlive,
    hasLostWatch: (): boolean => lost.size > 0,
    /** The pod's trace has ended, or it is given up. */
    podTraced(uid: string): void {
      traced.add(uid);
      leave(uid);
      changes.ofPods();
      if (hasReportedWait || !isIdle() || pending().length === 0) return;
      hasReportedWait = true;
      warn(`no pod is terminating now; waiting until ${ownersText(pending())} has rolled out`);
    },
    /** Owners that have not rolled out, in words. */
    pending,
    isEndKnown,
    /** Resolves when the rollout is done and has been quiet since, or on abort. */
    untilOver: (env: Env, signal: AbortSignal) => untilOver({ isOver, isEndKnown }, changes, env, signal),
  };
}

const notFollowedText = (owner: string): string =>
  `cannot determine when the rollout completes: ${owner}; waiting until every pod that was there at the start is gone, or none has changed for ${quietMs / 1000} s`;

export const ownersText = (owners: readonly string[]): string => forTerminal(owners.join(', '), 2000);

/** Changes that `untilOver` waits for. */
function createChanges() {
  let onAny = (): void => {};
  let ofPods = new AbortController();
  return {
    ofOwners: (): void => onAny(),
    ofPods(): void {
      if (!ofPods.signal.aborted) ofPods.abort(); // A second one makes an exception with its stack, too.
      onAny();
    },
    next: (): Promise<void> => new Promise((resolve) => (onAny = resolve)),
    /** Aborted by the next change of a pod. */
    nextOfPods: (): AbortSignal => (ofPods = new AbortController()).signal,
  };
}

async function untilOver(
  { isOver, isEndKnown }: Record<'isOver' | 'isEndKnown', () => boolean>,
  changes: ReturnType<typeof createChanges>,
  env: Env,
  signal: AbortSignal,
): Promise<RolloutEnd> {
  signal.addEventListener('abort', changes.ofOwners, { once: true });
  while (!signal.aborted) {
    if (!isOver()) await changes.next();
    else if (isEndKnown()) {
      // With two streams, the later change may arrive first.
      await delay(env, 1000, signal);
      if (isOver() && isEndKnown() && !signal.aborted) return 'done';
    } else {
      const isQuiet = await delay(env, quietMs, AbortSignal.any([signal, changes.nextOfPods()]));
      if (isQuiet && isOver()) return isEndKnown() ? 'done' : 'quiet';
    }
  }
  return 'left';
}

/** Tells `progress` about the workload or the pods' topmost owners, and `obstacles` what blocks them. */
export function followOwners(
  target: SeveralTarget,
  progress: Progress,
  obstacles: Pick<Obstacles, 'workload'>,
  onStalled: (words: string) => void,
): Required<Pick<GroupListener, 'ownerSeen' | 'alive' | 'listed'>> {
  const moved = new Set<string>();
  const expect = (owner: string): void => void (progress.follows(owner) || progress.ownerSeen(owner, false));
  const isByOwners = target.kind === 'selector' || (target.kind === 'workload' && target.resource === 'services');
  if (target.kind === 'workload' && !isByOwners) expect(workloadText(target.resource, target.name));
  if (!isByOwners) progress.ownersKnown();
  let isListed = !isByOwners;
  return {
    listed(pods) {
      if (isListed) return;
      isListed = true;
      const owners = pods.filter((one) => !isFinishedPod(one)).map(topmostOwner);
      owners.forEach(({ known, unknown }) => {
        if (known !== undefined) expect(known);
        if (unknown !== undefined) progress.ownerNotFollowed(unknown);
      });
      progress.ownersKnown();
    },
    ownerSeen(rawObservation, stream) {
      if (!isOfWorkloads(stream)) return;
      for (const object of objectsIn(rawObservation)) {
        const owner = ownerIn(stream, nameOf(object));
        if (!progress.follows(owner)) continue;
        if (rawObservation.kind === 'changed' && rawObservation.change === 'DELETED') {
          finishOwner(progress, owner, 'is gone');
          continue;
        }
        // A ReplicaSet of another owner than a Deployment depends on that owner.
        const above = object['kind'] === 'ReplicaSet' ? ownerOf(object) : undefined;
        if (above) progress.ownerNotFollowed(notFollowed(above));
        progress.ownerSeen(owner, isRolledOut(object));
        obstacles.workload(owner, object);
        // An owner that was stalled at the start of the run may still recover.
        if (!isStalled(object)) moved.add(owner);
        else if (moved.has(owner)) onStalled(`${owner} makes no progress: its progress deadline is over`);
      }
      if (stream.name === undefined) return;
      const owner = ownerIn(stream, stream.name);
      if (!progress.follows(owner)) return;
      if (rawObservation.kind === 'refused') finishOwner(progress, owner, 'may not be watched');
      if (rawObservation.kind === 'listed' && rawObservation.objects.length === 0)
        finishOwner(progress, owner, 'is gone');
    },
    alive(stream, isAlive) {
      if (!isOfWorkloads(stream)) return;
      const owner = ownerIn(stream, stream.name ?? '');
      if (progress.follows(owner)) progress.ownerAlive(owner, isAlive);
    },
  };
}

/** CronJobs are watched too, but their pods are not traced. */
const isOfWorkloads = ({ stream, resource }: Watched): boolean =>
  stream === 'owner' && Object.hasOwn(workloadKinds, resource);

/** The owner's status can no longer be read: it is not waited for. */
function finishOwner(progress: Progress, owner: string, why: string): void {
  progress.ownerNotFollowed(`${owner} ${why}`);
  progress.ownerAlive(owner, true);
  progress.ownerSeen(owner, true);
}

const ownerIn = ({ resource }: Watched, name: string): string => workloadText(resource as WorkloadResource, name);

const notFollowed = ({ kind, name }: { kind: string; name: string }): string => `${kind} ${name} is not followed`;

function topmostOwner(pod: JsonObject): { known?: string; unknown?: string } {
  const deployment = deploymentOf(pod);
  if (deployment !== undefined) return { known: workloadText('deployments', deployment) };
  const owner = ownerOf(pod);
  if (!owner) return { unknown: 'some pods have no controller' };
  const resources = Object.keys(workloadKinds).filter((one) => one !== 'services') as WorkloadResource[];
  const resource = resources.find((one) => workloadKinds[one].kind === owner.kind);
  return resource ? { known: workloadText(resource, owner.name) } : { unknown: notFollowed(owner) };
}

/**
 * Whether a workload has rolled out, by its own status like `kubectl rollout status` (polymorphichelpers/rollout_status.go).
 * Workloads without a rollout count as done: ReplicaSets, Jobs, and those with updateStrategy OnDelete.
 */
export function isRolledOut(object: JsonObject): boolean {
  const spec = asObject(object['spec']);
  const status = asObject(object['status']);
  const rule = rules[String(object['kind'])];
  if (!rule || asObject(spec['updateStrategy'])['type'] === 'OnDelete') return true;
  const isObserved = numberOr(status['observedGeneration'], 0) >= numberOr(metadataOf(object)['generation'], 0);
  return isObserved && rule(spec, status);
}

/** Whether the newest state of a Deployment is past its progress deadline, like `kubectl rollout status`. */
function isStalled(object: JsonObject): boolean {
  const { observedGeneration } = asObject(object['status']);
  if (object['kind'] !== 'Deployment' || observedGeneration !== metadataOf(object)['generation']) return false;
  return rawConditionOf(object, 'Progressing', 'False')?.['reason'] === 'ProgressDeadlineExceeded';
}

const rules: Record<string, ((spec: JsonObject, status: JsonObject) => boolean) | undefined> = {
  Deployment: (spec, status) => {
    const updated = numberOr(status['updatedReplicas'], 0);
    return (
      updated >= replicasOf(spec) &&
      numberOr(status['replicas'], 0) <= updated &&
      numberOr(status['availableReplicas'], 0) >= updated
    );
  },
  StatefulSet: (spec, status) => {
    // kubectl ignores those that are still to be removed. They go one by one, while nothing terminates in between.
    if (numberOr(status['replicas'], 0) > replicasOf(spec)) return false;
    if (numberOr(status['readyReplicas'], 0) < replicasOf(spec)) return false;
    const isCurrent = status['updateRevision'] === status['currentRevision'];
    // Pods with a lower ordinal keep the old revision; then currentRevision never becomes updateRevision.
    const { partition } = asObject(asObject(spec['updateStrategy'])['rollingUpdate']);
    return isCurrent || numberOr(status['updatedReplicas'], 0) >= replicasOf(spec) - numberOr(partition, 0);
  },
  DaemonSet: (_spec, status) => {
    const desired = numberOr(status['desiredNumberScheduled'], 0);
    return (
      numberOr(status['updatedNumberScheduled'], 0) >= desired && numberOr(status['numberAvailable'], 0) >= desired
    );
  },
};

const replicasOf = (spec: JsonObject): number => numberOr(spec['replicas'], 1);

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
