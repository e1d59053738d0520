/**
 * The traces of a watch: only of pods that terminate, each from what is remembered about it. They answer like those of
 * any run (run/traces/traces.ts), and are bounded however long the watch runs.
 */
import type { ObservedObject, Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import { controllerOf } from '../model/pod.ts';
import { reduce } from '../model/reduce.ts';
import type { Trace } from '../model/trace.ts';
import { concerning, objectsOf, type Subject } from '../model/select.ts';
import { tracesOfTerminating } from '../run/traces/traces.ts';
import { workloadOfPod, type PlaceOfExit } from './counts.ts';
import { createMemory, forgetOldest, goneIn, type Memory } from './memory.ts';

interface Details {
  /** Slices that list the pod, and the Services that they belong to: those of other pods do not concern it. */
  readonly routes: Set<string>;
  /** What concerns the pod, for its recording. */
  readonly log: Observation[];
}

/** `keepsLog`: what concerns a pod is kept until its trace is closed. `seen`: before the traces. `dropped`: too many pods. */
export function watchedTraces(keepsLog: boolean, seen: (o: Observation) => void, dropped: () => void) {
  /** By the uid of the traced pod. */
  const traced = new Map<string, Details>();
  const ended = createEnded();
  const memory = createMemory();
  const traces = tracesOfTerminating({
    wants({ metadata: { uid } }) {
      if (ended.has(uid) || traced.size < 5000) return !ended.has(uid);
      ended.add(uid, false); // 5000 terminate at the same time: further ones are only counted
      dropped();
      return false;
    },
    history: {
      about(subject) {
        const remembered = memory.about(subject);
        const details: Details = { routes: new Set(), log: [] };
        traced.set(subject.uid, details);
        // Services were listed before the slices that tell which of them route to the pod.
        for (const o of remembered) learnRoutes(subject, details, o);
        memory.forget(subject.uid);
        return remembered;
      },
      take(o) {
        // The state of a pod is remembered only until its trace begins.
        const isState = o.kind === 'changed' && o.object.kind === 'Pod' && o.change !== 'DELETED';
        if (!isState || !traced.has(o.object.metadata.uid)) memory.take(o);
      },
    },
    partsFor(subject, o) {
      const details = traced.get(subject.uid);
      // It closes a gap, and nothing else.
      if (!details || (o.kind === 'synced' && traces.get(subject.uid)?.gaps.length === 0)) return [];
      const routed = ofRoutes(subject, details, o);
      const parts = routed ? concerning(subject, routed) : [];
      // As in the log of a run about this pod alone.
      const logged = parts.map((part) => (part.kind === 'began' ? { ...part, target: undefined } : part));
      const isKept = keepsLog && details.log.length < 2000; // observations kept for its recording
      if (isKept && isNewTo(traces.get(subject.uid), parts)) details.log.push(...logged);
      return parts;
    },
  });
  return {
    // Without the pod's siblings: which pod replaces it is unknown.
    ...traces,
    add(o: Observation): readonly string[] {
      seen(o);
      if (o.kind === 'dated' && !memory.date(o)) return [];
      ended.take(o);
      return traces.add(o);
    },
    close(uid: string): void {
      ended.add(uid, traces.get(uid)?.gone !== undefined);
      traces.close(uid);
      traced.delete(uid);
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

/** A large Service changes all the time, and most of its changes say nothing about the pod. */
const isNewTo = (trace: Trace | undefined, parts: readonly Observation[]): boolean =>
  !trace ||
  parts.some((part) => part.kind !== 'changed' || part.stream !== 'endpointslices') ||
  parts.reduce(reduce, trace).slices !== trace.slices;

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

/** The observation without slices and Services that never routed to the pod; undefined if nothing is left. */
function ofRoutes(subject: Subject, details: Details, o: Observation): Observation | undefined {
  if (o.kind !== 'changed' && o.kind !== 'listed') return o;
  if (o.stream !== 'endpointslices' && o.stream !== 'services') return o;
  learnRoutes(subject, details, o);
  const isOwn = ({ kind, metadata }: ObservedObject): boolean =>
    metadata.namespace === subject.namespace && details.routes.has(`${kind}/${metadata.name}`);
  if (o.kind === 'changed') return isOwn(o.object) ? o : undefined;
  return { ...o, objects: o.objects.filter(isOwn) };
}

function learnRoutes({ uid, namespace }: Subject, { routes }: Details, o: Observation): void {
  for (const object of objectsOf(o)) {
    if (object.kind !== 'EndpointSlice' || object.metadata.namespace !== namespace) continue;
    if (!object.endpoints.some(({ targetRef }) => targetRef?.uid === uid)) continue;
    routes.add(`EndpointSlice/${object.metadata.name}`);
    routes.add(`Service/${object.metadata.labels?.['kubernetes.io/service-name'] ?? ''}`);
  }
}
