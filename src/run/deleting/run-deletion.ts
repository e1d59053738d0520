/** A run from its first request to its DELETEs, which wait until the streams are in sync. tracks.ts decides the end. */
import { asObject, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import { within } from '../../kube/env.ts';
import { PodexitError } from '../../errors.ts';
import type { RawObservation } from '../../model/observation.ts';
import { askDeletion } from './ask-deletion.ts';
import { assertSame, noSuchPod, refuseMirror, uidToDelete } from '../choosing/pod-checks.ts';
import { deliverNamespace, follow } from '../streams/follow.ts';
import { createGate, type StreamGate } from '../streams/stream-health.ts';
import type { LiveOptions, Run } from '../streams/live-run.ts';
import { createSharedStreams } from '../streams/shared-streams.ts';
import { eventTargets, isTerminatingPod, nameOf, namespaceOf, podEventsTarget, uidOf } from '../streams/watched.ts';

/** How long after an accepted DELETE the deletionTimestamp may appear: some webhooks delay it. */
const terminatingTimeoutMs = 30_000;

/** Throws PodexitError if the run cannot start. Later errors of its streams end it through `run.fail`. */
export async function runDeletion(run: Run): Promise<void> {
  const { options, group, listener } = run;
  const { mode } = options;
  const gate = createGate();
  const shared = group.isEndless
    ? (await import('../streams/streams-of-several.ts')).createWideStreams(run, gate)
    : createSharedStreams(run, gate);
  const observe = group.isOne
    ? undefined
    : (await import('../streams/streams-of-several.ts')).createPodObserver(run, shared, gate);
  if (run.signal.aborted) return;
  const listing = firstList(run, gate, observe);
  const [only] = group.isOne ? (group.named ?? []) : [];
  const events = only ? [podEventsTarget(group.namespace, only.name)] : eventTargets(group.namespace);
  for (const target of events) void follow(run, target, { gate: target.stream === 'events' ? gate : undefined });
  shared.listServices();
  if (group.owner) shared.openOwner(group.owner);

  const since = await listing;
  if (run.signal.aborted) return;
  const named = await namedPods(run, since.objects.map(asObject));
  const toDelete = named.filter((pod) => sendsDelete(run, pod));
  run.begin(toDelete.length > 0 ? mode : 'attach');
  const openRest = async (pod: JsonObject): Promise<void> => {
    const isOwn = await isOurDeletion(run, pod);
    shared.openOwners(pod, only && toDelete.includes(pod) ? { since, isOwn } : {});
    shared.openPlace(pod, isOwn);
  };
  const openAll = (some: readonly JsonObject[]): void => void Promise.all(some.map(openRest)).catch(run.fail);
  run.onDeletion = ({ refused }) => {
    const mayRead = refused.every(({ value }) => value.stream !== 'namespace');
    // When it was first read, the namespace was not terminating yet; its deletion may be why the pod ends.
    if (only && mayRead && !run.requested) void deliverNamespace(run, group.namespace);
    openAll(toDelete);
  };
  for (const pod of named) {
    shared.openRoutes(pod);
    shared.openLogs(pod, true);
  }
  if (options.probes && options.probes.length > 0) {
    const { startProbing } = await import('../probing/probing.ts');
    run.probing = await startProbing(run, only && named[0] && { name: nameOf(named[0]), uid: uidOf(named[0]) });
  }
  if (toDelete.length > 0 || listener.start) {
    // At most 3 s (docs/architecture.md "What is watched"); late ones are reported as gaps.
    await within(options.cluster.env, gate.allOpen(), 3000, run.signal);
    const at = options.clock.now();
    for (const late of gate.shut()) run.deliver({ at, kind: 'gap', ...late, from: at, cause: 'not-synced' });
    // Nothing is deleted or started if a probe's target does not answer.
    await run.probing?.ready;
  }
  if (!run.signal.aborted) listener.start?.(run.deliver);
  // These streams open when the DELETE is answered: earlier, they would delay the first news of the deletion.
  const requests = toDelete.map((pod) => sendDeletion(run, pod, () => openAll([pod])));
  openAll(named.filter((pod) => !toDelete.includes(pod) || mode === 'evict'));
  await Promise.all(requests);
}

/** Whether our DELETE has begun the pod's deletion, as far as is known when it is answered. */
async function isOurDeletion({ options, group, traceOf }: Run, pod: JsonObject): Promise<boolean> {
  const trace = traceOf(uidOf(pod));
  if (!group.isOne || options.mode !== 'delete' || !trace?.deletion) return false;
  return (await import('../../infer/deletion.ts')).deletionOf(trace)?.ours !== undefined;
}

/** The first list of the pods; without pods that nobody named, which would stay in memory as long as the run lasts. */
function firstList(
  run: Run,
  gate: StreamGate,
  observe?: (rawObservation: RawObservation) => void,
): Promise<Extract<RawObservation, { kind: 'listed' }>> {
  return new Promise((resolve) => {
    void follow(run, run.group.pods, {
      gate,
      onObservation: (rawObservation) => {
        observe?.(rawObservation);
        if (rawObservation.kind === 'listed')
          resolve(run.group.named ? rawObservation : { ...rawObservation, objects: [] });
      },
    });
  });
}

/** The pods that the user named. Throws if one does not exist, or is not the pod that was found before. */
async function namedPods({ options: { cluster }, group }: Run, pods: readonly JsonObject[]): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (const one of group.named ?? []) {
    // Compares names: the server, or a proxy in front of it, may ignore the selector.
    const pod = pods.find((each) => nameOf(each) === one.name);
    if (!pod) throw await noSuchPod(cluster, one.name);
    assertSame(cluster, one, metadataOf(pod)['uid']);
    found.push(pod);
  }
  return found;
}

/** Attaches to a pod that is already terminating, unless a grace flag asks for one more DELETE. */
function sendsDelete({ options }: Run, pod: JsonObject): boolean {
  const terminating = isTerminatingPod(pod);
  const deletes = options.mode !== 'attach' && (!terminating || options.insist);
  if (deletes) {
    refuseMirror(pod);
    uidToDelete(options.cluster, pod);
  }
  if (terminating && options.mode !== 'attach') options.warn(alreadyTerminating(options, pod, 'attached to it'));
  return deletes;
}

/** `instead`: what happens instead of a DELETE. */
function alreadyTerminating({ mode, insist }: LiveOptions, pod: JsonObject, instead: string): string {
  const text = `pod "${nameOf(pod)}" is already terminating`;
  const verb = mode === 'evict' ? 'eviction' : 'DELETE';
  return insist
    ? `${text}: another ${verb} is sent with the requested grace period, but this rarely shortens a kill in progress`
    : `${text}: ${instead}, no ${verb} is sent`;
}

/** Sends the DELETE or the eviction of one pod. Calls `onAnswer` when it is answered, and at the end. */
async function sendDeletion(run: Run, pod: JsonObject, onAnswer: () => void): Promise<void> {
  const { options, listener, signal, deliver, ofPod } = run;
  const { cluster, graceSeconds, mode } = options;
  const uid = uidOf(pod);
  if (signal.aborted || run.traceOf(uid)?.gone) return;
  const namespace = namespaceOf(pod) ?? cluster.namespace;
  const target = { namespace, name: nameOf(pod), uid, graceSeconds, evict: mode === 'evict' };
  let warned = false;
  const beforeRequest = (): boolean => {
    // Another client's deletion may begin while streams open or a budget is awaited.
    if (run.traceOf(uidOf(pod))?.deletion === undefined || isTerminatingPod(pod)) return true;
    if (!warned) options.warn(alreadyTerminating(options, pod, 'another client was faster'));
    warned = true;
    return options.insist;
  };
  const asking = { signal, retryEvict: options.retryEvict ?? false, warn: options.warn, beforeRequest };
  try {
    for await (const sent of askDeletion(cluster, target, pod, asking)) {
      if (sent.kind === 'requested') run.requested = true;
      // A budget refused it, and it is sent again only later.
      if (mode === 'evict' && sent.kind === 'answered' && sent.status === 429) run.requested = false;
      const isAnswer = sent.kind === 'answered' || sent.kind === 'looked';
      deliver(isAnswer ? { ...sent, ...ofPod(uid) } : sent);
      if (isAnswer) onAnswer();
    }
  } catch (error) {
    const isOfNamedPod = error instanceof PodexitError && listener.refused !== undefined;
    if (isOfNamedPod && !run.traceOf(uid)?.deletion && !run.traceOf(uid)?.gone) return listener.refused?.(pod, error);
    warnDeletedAnyway(run, uid, error);
  } finally {
    onAnswer();
  }
  const trace = run.traceOf(uid);
  if (signal.aborted || trace?.deletion || trace?.gone) return;
  expectTerminating(run, pod);
}

/** Warns about a failed request if the deletion happens anyway, ours or another client's: the report is still made. */
function warnDeletedAnyway({ options, traceOf }: Run, uid: string, error: unknown): void {
  const trace = traceOf(uid);
  if (!(error instanceof PodexitError && (trace?.deletion || trace?.gone))) throw error;
  const fate = trace.gone ? 'the pod is gone' : 'the pod is being deleted';
  const anyway = error.code === 'pod.gone' ? '' : `${fate} anyway; `;
  options.warn(`${error.message}; ${anyway}the report shows how`);
}

/** Fails the run if a webhook keeps the deletionTimestamp back for long; a lost pods' stream extends the time. */
function expectTerminating(run: Run, pod: JsonObject): void {
  const { options, group, listener } = run;
  const check = (): void => {
    const trace = run.traceOf(uidOf(pod));
    if (trace?.deletion || trace?.gone) return;
    if (run.streams.isLost(group.pods.stream)) return expectTerminating(run, pod);
    const namespace = namespaceOf(pod) ?? options.cluster.namespace;
    const error = new PodexitError(
      'delete.not-begun',
      `the server accepted the deletion of pod "${nameOf(pod)}" in namespace "${namespace}", but it was not marked as terminating within ${terminatingTimeoutMs / 1000} s`,
      'An admission webhook may hold it back (look at its logs); trace it with --attach, or look with: kubectl get pod -w',
    );
    if (listener.refused) listener.refused(pod, error);
    else run.fail(error);
  };
  run.timers.set(`marked/${uidOf(pod)}`, options.clock.setTimeout(check, terminatingTimeoutMs));
}
