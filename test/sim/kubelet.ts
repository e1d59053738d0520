/** The kubelet's pod worker (SIGNALS.md §2, S1 to S15) as a process; each step names its number. */
import { renewLease } from './node.ts';
import { Container } from './container.ts';
import { createRecorder, type EventRecorder } from './event-recorder.ts';
import { killPod, type HookTruth } from './kill-pod.ts';
import { followLog } from './log-stream.ts';
import type { KubeObject, Pod } from './objects.ts';
import { acknowledged, finished, unreadySeen, withoutLimits } from './pod-status.ts';
import type { ContainerStory } from './story.ts';
import { sleep, type Process } from './virtual-time.ts';
import { draw, type World } from './world.ts';

export class Kubelet {
  readonly containers: Container[];
  readonly uid: string;
  readonly hooks = new Map<string, HookTruth>();
  /** ns: the first Killing, or the first look at a pod in which nothing runs. */
  noticedAt?: number;
  /** ns: the first visible sign of the termination: a Killing Event or a status. */
  firstSignAt?: number;
  /** Seconds: the grace period of the first attempt. */
  grace?: number;
  /** ns: when the final status reached the API; unset if the object was gone by then. */
  finishedAt?: number;
  finalDeleteAt?: number;
  /** Each attempt to stop the pod; each starts a new grace period (s). */
  readonly stopAttempts: { at: number; grace: number }[] = [];
  #lastKnown: Pod;
  #events: EventRecorder;
  #smallestGrace = Infinity;
  #probing = true;
  #working = false;
  #down = false;
  #cuts: (() => void)[] = [];
  readonly #world: World;

  constructor(world: World, pod: Pod) {
    this.#world = world;
    this.#lastKnown = pod;
    this.uid = pod.metadata.uid;
    this.containers = world.story.containers.map((story) => new Container(world, story, runsAtFirst(world, story)));
    this.#events = this.#newRecorder();
    world.api.on('pods', (change, object) => this.#see(change, object));
  }

  begin(): void {
    for (const container of this.containers) if (container.running) container.begin();
    this.#startProbes();
    this.#world.kubelet.spawn(renewLease(this.#world));
  }

  followLogs(): void {
    const followed = this.containers.filter((one) => one.running && one.story.logged);
    this.#cuts = followed.map((one) => followLog(this.#world, one));
  }

  cutLogs(): void {
    this.#cuts.forEach((cut) => cut());
  }

  /** The kubelet's calls, streams and probes die with it; containers do not (SIGNALS.md trap 36). */
  die(): void {
    this.#world.kubelet.kill();
    this.#world.runtime.kill();
    this.cutLogs();
    this.#working = false;
    this.#down = true;
  }

  /** A new kubelet process: its Event counts and grace periods restart, and it finds the pod already terminating. */
  comeBack(node: KubeObject): void {
    this.#down = false;
    this.#events = this.#newRecorder();
    this.#smallestGrace = this.#current()?.metadata.deletionGracePeriodSeconds ?? Infinity;
    this.#events.emit('Node', node, 'Starting', 'Starting kubelet.', { withoutUid: true });
    this.#startProbes();
    this.#world.kubelet.spawn(renewLease(this.#world));
    const pod = this.#current();
    if (pod?.metadata.deletionTimestamp !== undefined) this.#startWorker([900, 1300]);
  }

  emit(container: Container, reason: string, message: string, type: 'Normal' | 'Warning' = 'Normal'): void {
    const { events, trigger } = this.#world.story;
    if (reason === 'Killing' && !events.dropped.includes(reason) && trigger.kind !== 'namespace-deletion')
      this.firstSignAt ??= this.#world.time.now;
    const list = container.story.kind === 'sidecar' ? 'initContainers' : 'containers';
    const fieldPath = `spec.${list}{${container.story.name}}`;
    this.#events.emit('Pod', this.#lastKnown, reason, message, { type, fieldPath });
  }

  /** A status patch; it is lost if the object is gone. */
  patch(change: (pod: Pod) => Pod): void {
    const pod = this.#current();
    if (!pod) return;
    if (pod.metadata.deletionTimestamp !== undefined) this.firstSignAt ??= this.#world.time.now;
    this.#world.api.put('pods', change(pod));
  }

  #newRecorder(): EventRecorder {
    const { kubelet, clocks } = this.#world;
    return createRecorder(this.#world, kubelet, clocks.node, 'kubelet');
  }

  #current(): Pod | undefined {
    return this.#world.api.pod(this.#lastKnown.metadata.name, this.uid);
  }

  #startProbes(): void {
    for (const one of this.containers)
      if (runsAtFirst(this.#world, one.story)) this.#world.kubelet.spawn(this.#probeReadiness(one));
  }

  /** Probes continue during termination (S4) and are the only sign of a closed port. */
  *#probeReadiness(container: Container): Process {
    const { readiness, name } = container.story;
    if (!readiness) return;
    yield sleep(readiness.phaseMs);
    let failures = 0;
    while (this.#probing) {
      failures = container.listening ? 0 : failures + 1;
      if (failures > 0)
        this.emit(container, 'Unhealthy', 'Readiness probe failed: connect: connection refused', 'Warning');
      if (failures === readiness.failureThreshold) {
        const now = this.#world.clocks.node.seconds(this.#world.time.now);
        this.patch((pod) => unreadySeen(pod, name, now, this.#world.api.stamp()));
      }
      yield sleep(readiness.periodMs + this.#world.random.between(0, 1));
    }
  }

  /** S1: the smallest grace period seen counts; a kill in progress does not notice a smaller one (trap 3). */
  #see(change: string, object: KubeObject): void {
    if (object.metadata.uid !== this.uid) return;
    this.#lastKnown = object as Pod;
    const { deletionTimestamp, deletionGracePeriodSeconds: grace } = object.metadata;
    if (deletionTimestamp === undefined || this.#lastKnown.spec.nodeName === undefined) return;
    // A client's DELETE with grace 0 after the finish is the final one: the kubelet's own then changes nothing.
    if (grace === 0 && this.finishedAt !== undefined) this.finalDeleteAt ??= this.#world.time.now;
    this.#smallestGrace = Math.min(this.#smallestGrace, grace ?? Infinity);
    if (!this.#working && !this.#down) this.#startWorker(this.#world.story.kubelet.noticeMs);
  }

  #startWorker(noticeMs: readonly [number, number]): void {
    this.#working = true;
    this.#world.kubelet.spawn(this.#work(noticeMs));
  }

  *#work(noticeMs: readonly [number, number]): Process {
    const { kubelet, pod } = this.#world.story;
    yield sleep(draw(this.#world, noticeMs)); // S2
    if (pod.state === 'finished') return this.#finishedBefore();
    this.#world.kubelet.spawn(this.#acknowledge());
    for (let failures = 0; ; failures++) {
      const grace = Math.max(1, this.#smallestGrace); // S1: never below 1
      this.noticedAt ??= this.#world.time.now;
      this.grace ??= grace;
      this.stopAttempts.push({ at: this.#world.time.now, grace });
      yield* killPod(this.#world, this, grace, failures < kubelet.failedKills); // S5 to S9
      if (failures >= kubelet.failedKills) break;
      const message = failedKill(this.containers);
      this.#events.emit('Pod', this.#lastKnown, 'FailedKillPod', message, { type: 'Warning' }); // S11
      yield sleep(this.#world.random.between(10_000, 15_000));
    }
    yield sleep(draw(this.#world, kubelet.sandboxMs)); // S10
    this.#probing = false;
    yield* this.#finish();
  }

  #finishedBefore(): void {
    this.noticedAt ??= this.#world.time.now;
    this.#probing = false;
  }

  /** S3: forced by the deletion; often after Killing. */
  *#acknowledge(): Process {
    yield sleep(draw(this.#world, this.#world.story.kubelet.ackMs));
    const now = this.#world.clocks.node.seconds(this.#world.time.now);
    if (this.finishedAt !== undefined) return;
    this.patch((pod) => acknowledged(pod, now, this.#world.api.stamp()));
  }

  *#finish(): Process {
    const { kubelet } = this.#world.story;
    const { node } = this.#world.clocks;
    const print = (at: number): string => node.seconds(at);
    const now = print(this.#world.time.now);
    if (this.#current()) this.finishedAt = this.#world.time.now;
    this.patch((pod) => finished(pod, this.containers, print, now, this.#world.api.stamp())); // S12
    const cleanup = draw(this.#world, kubelet.cleanupMs);
    yield sleep(cleanup * 0.95); // S13
    if (kubelet.patchesResources) this.patch((pod) => withoutLimits(pod, this.#world.api.stamp()));
    yield sleep(cleanup * 0.05);
    if (this.#current()) this.finalDeleteAt ??= this.#world.time.now;
    this.#world.api.deletePod(this.#lastKnown.metadata.name, 0, this.uid); // S15
  }
}

const runsAtFirst = (world: World, story: ContainerStory): boolean =>
  world.story.pod.state === 'running' && story.state.kind === 'running';

const failedKill = (containers: readonly Container[]): string =>
  `error killing pod: failed to "KillContainer" for "${containers[0]?.story.name ?? ''}" with KillContainerError: ` +
  '"rpc error: code = DeadlineExceeded desc = context deadline exceeded"';
