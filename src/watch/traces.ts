/**
 * The traces of a watch: only of pods that terminate, each from what is remembered about it. They answer like those of
 * any run (run/traces/traces.ts), and are bounded however long the watch runs.
 */
import type { ObservedObject, Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import { controllerOf } from '../model/pod.ts';
import { reduce } from '../model/reduce.ts';
import { concerning, learn, objectsOf, subjectOf, type Subject } from '../model/select.ts';
import { emptyTrace, type Trace } from '../model/trace.ts';
import { terminatingPodsIn } from '../run/traces/traces-of-log.ts';
import { workloadOfPod, type PlaceOfExit } from './exit-counts.ts';
import { createMemory, forgetOldest, goneIn, type Memory } from './memory.ts';

interface Traced {
  readonly subject: Subject;
  /** Slices that list the pod, and the Services that they belong to: those of other pods do not concern it. */
  readonly routes: Set<string>;
  /** What concerns the pod, for its recording. */
  readonly log: Observation[] | undefined;
  trace: Trace;
}

/** `keepsLog`: what concerns a pod is kept until its trace is closed. `seen`: before the traces. `dropped`: too many pods. */
export function watchedTraces(keepsLog: boolean, seen: (o: Observation) => void, dropped: () => void) {
  const traced = new Map<string, Traced>();
  /** Uids of the traced pods by the pods' names, to which Events refer. */
  const byName = new Map<string, Set<string>>();
  const ended = createEnded();
  const memory = createMemory();
  const begin = (pod: Pod): void => {
    const subject = subjectOf(pod);
    learn(subject, pod);
    const one: Traced = { subject, routes: new Set(), log: keepsLog ? [] : undefined, trace: emptyTrace };
    const remembered = memory.about(subject);
    // Services were listed before the slices that tell which of them route to the pod.
    for (const o of remembered) learnRoutes(one, o);
    for (const o of remembered) addTo(one, o);
    const { uid, name } = pod.metadata;
    traced.set(uid, one);
    byName.set(name, (byName.get(name) ?? new Set()).add(uid));
    memory.forget(uid);
  };
  return {
    add(o: Observation): readonly string[] {
      seen(o);
      if (o.kind === 'dated' && !memory.date(o)) return [];
      for (const pod of terminatingPodsIn(o)) {
        const { uid } = pod.metadata;
        if (traced.has(uid) || ended.has(uid)) continue;
        if (traced.size < 5000) begin(pod);
        else {
          ended.add(uid, false); // 5000 terminate at the same time: further ones are only counted
          dropped();
        }
      }
      ended.take(o);
      const keys = [...concerned(o, traced, byName)].filter((uid) => {
        const one = traced.get(uid);
        return one !== undefined && addTo(one, o);
      });
      // The state of a pod is remembered only until its trace begins.
      const isState = o.kind === 'changed' && o.object.kind === 'Pod' && o.change !== 'DELETED';
      if (!isState || !traced.has(o.object.metadata.uid)) memory.take(o);
      return keys;
    },
    /** Without the pod's siblings: which pod replaces it is unknown. */
    get: (uid: string): Trace | undefined => traced.get(uid)?.trace,
    keys: () => [...traced.keys()],
    probes: () => emptyTrace.probes,
    close(uid: string): void {
      const { subject: { name } = { name: '' }, trace } = traced.get(uid) ?? {};
      traced.delete(uid);
      byName.get(name)?.delete(uid);
      if (byName.get(name)?.size === 0) byName.delete(name);
      ended.add(uid, trace?.gone !== undefined);
    },
    /** What concerned the pod so far, as the log of a run about this pod. */
    logOf: (uid: string): readonly Observation[] => traced.get(uid)?.log ?? [],
    ownerOf: (pod: Pod) => ownerIn(memory, pod),
    placeOf: (pod: Pod): PlaceOfExit => workloadOfPod(newestIn(memory, pod), ownerIn(memory, pod)),
    /** Pods that terminate now, also those that were reported as stuck or not traced. */
    terminating: () => traced.size + ended.staying(),
    sizes: memory.sizes,
  };
}

const newestIn = ({ stateOf }: Memory, pod: Pod): Pod =>
  stateOf(pod.metadata.uid)
    .flatMap(objectsOf)
    .find((one) => one.kind === 'Pod') ?? pod;

/** The owner of the pod's ReplicaSet or Job, if it is known: a Deployment, a CronJob. */
function ownerIn(memory: Memory, pod: Pod) {
  const { kind = '', uid } = controllerOf(newestIn(memory, pod)) ?? {};
  const [owner] = ['ReplicaSet', 'Job'].includes(kind)
    ? memory.statesOf(`uid/${uid}`).flatMap(objectsOf).slice(-1)
    : [];
  return owner && controllerOf(owner);
}

/** Pods that are not traced (again): those that are gone, and while they exist those that were stuck or dropped. */
function createEnded() {
  const [gone, staying] = [new Set<string>(), new Set<string>()];
  const add = (uid: string, isGone: boolean): void => {
    (isGone ? gone : staying).add(uid);
    forgetOldest(gone, 10_000); // gone pods, which a server that is behind must not open again
  };
  return {
    add,
    has: (uid: string): boolean => gone.has(uid) || staying.has(uid),
    staying: () => staying.size,
    take: (o: Observation): void => {
      for (const uid of goneIn(o, staying)) if (staying.delete(uid)) add(uid, true);
    },
  };
}

function concerned(o: Observation, traced: ReadonlyMap<string, Traced>, byName: ReadonlyMap<string, Set<string>>) {
  if ('pod' in o && o.pod !== undefined) return [o.pod];
  const object = o.kind === 'changed' ? o.object : undefined;
  if (object?.kind === 'Pod') return [object.metadata.uid];
  const about = object?.kind === 'Event' ? object.involvedObject : undefined;
  return about?.kind === 'Pod' ? (byName.get(about.name) ?? []) : traced.keys();
}

function addTo(one: Traced, observation: Observation): boolean {
  if (observation.kind === 'synced' && one.trace.gaps.length === 0) return false;
  const routed = ofRoutes(one, observation);
  const parts = routed ? concerning(one.subject, routed) : [];
  if (parts.length === 0) return false;
  for (const part of parts) for (const object of objectsOf(part)) learn(one.subject, object);
  for (const part of parts) {
    const before = one.trace;
    one.trace = reduce(before, part);
    // A large Service changes all the time, and most of its changes say nothing about the pod.
    const isNews = part.kind !== 'changed' || part.stream !== 'endpointslices' || before.slices !== one.trace.slices;
    // As in the log of a run about this pod alone.
    const logged = part.kind === 'began' ? { ...part, target: undefined } : part;
    if (isNews && (one.log?.length ?? Infinity) < 2000) one.log?.push(logged); // observations kept for its recording
  }
  return true;
}

/** The observation without slices and Services that never routed to the pod; undefined if nothing is left. */
function ofRoutes(one: Traced, o: Observation): Observation | undefined {
  const { subject, routes } = one;
  if (o.kind !== 'changed' && o.kind !== 'listed') return o;
  if (o.stream !== 'endpointslices' && o.stream !== 'services') return o;
  learnRoutes(one, o);
  const isOwn = ({ kind, metadata }: ObservedObject): boolean =>
    metadata.namespace === subject.namespace && routes.has(`${kind}/${metadata.name}`);
  if (o.kind === 'changed') return isOwn(o.object) ? o : undefined;
  return { ...o, objects: o.objects.filter(isOwn) };
}

function learnRoutes({ subject: { uid, namespace }, routes }: Traced, o: Observation): void {
  for (const object of objectsOf(o)) {
    if (object.kind !== 'EndpointSlice' || object.metadata.namespace !== namespace) continue;
    if (!object.endpoints.some(({ targetRef }) => targetRef?.uid === uid)) continue;
    routes.add(`EndpointSlice/${object.metadata.name}`);
    routes.add(`Service/${object.metadata.labels?.['kubernetes.io/service-name'] ?? ''}`);
  }
}
