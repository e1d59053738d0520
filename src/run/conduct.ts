/**
 * A run from its first request to the DELETE: opens what is watched (watched.ts), and sends the DELETE when they are
 * in sync, and only then. The end comes by what the trace tells (live.ts).
 */
import { PodexitError } from '../errors.ts';
import type { Sighting, StreamName } from '../model/observation.ts';
import type { Probing } from './probing.ts';
import { askDeletion } from './ask-deletion.ts';
import { assertSame } from './found-pod.ts';
import { follow } from './follow.ts';
import type { Gate } from './gate.ts';
import { createGate } from './gate.ts';
import { handOverPast } from './hand-over.ts';
import type { LiveOptions, Run } from './live.ts';
import { once } from './once.ts';
import { listServices, lookAtKin, openFirstLanes, openLastLanes } from './open-lanes.ts';
import { deletionNotBegun, noSuchPod, refuseMirror, uidToDelete } from './pod-checks.ts';
import type { ToldRoutes } from './routes-ahead.ts';
import type { Raw } from './watched.ts';
import { asRaw, firstTargets, metadataOf, uidOf } from './watched.ts';

/** How long the lanes may keep the DELETE waiting (docs/architecture.md "What is watched"). */
const syncPatience = 3000;
/** How long a DELETE that was accepted may take to mark the pod: some webhooks delay it. */
const markPatience = 30_000;

/** Throws a PodexitError for what stands in the way of the run; what its streams meet ends it by `run.fail`. */
export async function conduct(run: Run): Promise<void> {
  const { namespace, name, cluster, mode } = run.options;
  const first = firstTargets(namespace, name);
  const gate = createGate();
  let told: ToldRoutes | undefined;
  const pod = new Promise<Raw | undefined>((resolve) => {
    const handOver = once((at: number) => void (told = handOverPast(run, at)));
    void follow(run, first.pod, gate, (sighting) => {
      if (sighting.kind !== 'listed') return;
      handOver(sighting.at);
      resolve(sighting.objects[0] as Raw | undefined);
    });
  });
  void follow(run, first.events, gate);
  const services = listServices(run, first.services, gate);

  const raw = lastKnown(run, await pod);
  if (run.signal.aborted) return;
  // A server, or something before it, that does not heed the selector.
  if (!raw || metadataOf(raw)['name'] !== name) throw await noSuchPod(cluster, namespace, name);
  assertSame(run.options, namespace, metadataOf(raw)['uid']);
  const deletes = sendsDelete(run, raw);
  run.begin(deletes ? mode : 'attach');
  openFirstLanes(run, raw, { listed: services, told }, gate);
  if (deletes) void lookAtKin(run, raw).catch(run.fail);
  run.timeLimit.byGrace(graceOf(run, raw, deletes));
  const probing = await probe(run, raw);
  if (deletes) await inSync(run, gate);
  // Nothing is deleted where a target does not answer.
  if (deletes) await probing?.ready;
  const requested = deletes ? request(run, raw) : undefined;
  openLastLanes(run, raw);
  if (deletes) run.later.start();
  else run.later.hurry();
  await requested;
}

/** A pod that was seen to terminate may be gone, or have a successor of its name, before its run can look. */
function lastKnown({ options: { before, uid } }: Run, found: Raw | undefined): Raw | undefined {
  return before && (!found || metadataOf(found)['uid'] !== uid) ? before.ending.pod : found;
}

/** Requests begin before the deletion, and go on until the run ends (live.ts). */
async function probe(run: Run, pod: Raw): Promise<Probing | undefined> {
  const { probes = [], userAgent = 'kubectl-podexit', cluster, clock, namespace, name } = run.options;
  if (probes.length === 0) return undefined;
  const { startProbing } = await import('./probing.ts');
  const deliver = (sighting: Sighting): void => void run.deliver(sighting);
  const about = { pod: { name, uid: uidOf(pod) }, deliver, signal: run.signal };
  run.probing = await startProbing({ probes, userAgent, cluster, clock, namespace, ...about });
  return run.probing;
}

/** A pod that is terminating already is attached to, unless a grace flag asks for one more DELETE. */
function sendsDelete({ options }: Run, pod: Raw): boolean {
  const terminating = metadataOf(pod)['deletionTimestamp'] !== undefined;
  const deletes = options.mode !== 'attach' && (!terminating || options.insist);
  if (deletes) {
    refuseMirror(pod);
    uidToDelete(options.cluster, pod);
  }
  if (terminating && options.mode !== 'attach') options.warn(alreadyTerminating(options, 'attached to it'));
  return deletes;
}

/** `instead`: of asking for its deletion. */
function alreadyTerminating({ name, mode, insist }: LiveOptions, instead: string): string {
  const pod = `pod "${name}" is already terminating`;
  const verb = mode === 'evict' ? 'eviction' : 'DELETE';
  return insist
    ? `${pod}: one more ${verb} is sent for the grace that was asked for, but a kill that is running is seldom shortened by it`
    : `${pod}: ${instead}, no ${verb} is sent`;
}

/** Seconds, as the server will make it, or has: Kubernetes' default is 30. */
function graceOf({ options }: Run, pod: Raw, deletes: boolean): number {
  const known = [
    deletes ? options.graceSeconds : null,
    metadataOf(pod)['deletionGracePeriodSeconds'],
    asRaw(pod['spec'])['terminationGracePeriodSeconds'],
  ];
  return known.find((one) => typeof one === 'number') ?? 30;
}

/** As a gate names it (follow.ts): each container's log is a lane of its own. */
const laneOf = (lane: string): { stream: StreamName; container?: string } =>
  lane.startsWith('logs/') ? { stream: 'logs', container: lane.slice('logs/'.length) } : { stream: lane as StreamName };

/** Waits for the lanes, for a while; what is late is a stated gap. */
async function inSync({ options, signal, deliver }: Run, gate: Gate): Promise<void> {
  const late = await gate.wait(options.clock, syncPatience, signal);
  const at = options.clock.now();
  for (const lane of late) await deliver({ at, kind: 'gap', ...laneOf(lane), from: at, cause: 'not-synced' });
}

async function request(run: Run, pod: Raw): Promise<void> {
  const { options, signal, deliver } = run;
  const { cluster, namespace, name, graceSeconds, mode } = options;
  if (signal.aborted || run.trace?.gone) return;
  const target = { namespace, name, uid: uidOf(pod), graceSeconds, evict: mode === 'evict' };
  const tell = once(() => options.warn(alreadyTerminating(options, 'somebody else was faster')));
  const isOvertaken = (): boolean => {
    if (!isBegunElsewhere(run, pod)) return false;
    tell();
    return !options.insist;
  };
  const asking = { signal, retryEvict: options.retryEvict ?? false, warn: options.warn, isOvertaken };
  try {
    for await (const sighting of askDeletion(cluster, target, pod, asking)) {
      // Not before: an eviction may wait for its budget until somebody gives up.
      if (sighting.kind === 'requested') run.requested = true;
      await deliver(sighting);
    }
  } catch (error) {
    tellOvertaken(run, error);
  }
  if (signal.aborted || run.trace?.deletion || run.trace?.gone) return;
  expectMark(run);
}

/** Before the request: the watch brought a deletion while all was being opened, or a budget was waited for. */
const isBegunElsewhere = ({ trace }: Run, pod: Raw): boolean =>
  trace?.deletion !== undefined && metadataOf(pod)['deletionTimestamp'] === undefined;

/** An error of the request where the deletion goes on without it, somebody else's or our own: it costs no report. */
function tellOvertaken({ options, trace }: Run, error: unknown): void {
  if (!(error instanceof PodexitError && (trace?.deletion || trace?.gone))) throw error;
  const fate = trace.gone ? 'the pod is gone' : 'the pod is being deleted';
  const allTheSame = error.code === 'pod.gone' ? '' : `${fate} all the same, and `;
  options.warn(`${error.message}; ${allTheSame}the report tells how`);
}

/** Counts only while the pod's stream has a connection: what was never heard is nobody's fault. */
function expectMark(run: Run): void {
  const { clock, namespace, name } = run.options;
  const check = (): void => {
    if (run.trace?.deletion || run.trace?.gone) return;
    if (run.lanes.lost().some(({ stream }) => stream === 'pod')) return expectMark(run);
    run.fail(deletionNotBegun(namespace, name, markPatience / 1000));
  };
  run.timers.set('marked', clock.setTimeout(check, markPatience));
}
