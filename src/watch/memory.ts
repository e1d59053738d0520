/**
 * What a watch remembers for pods that terminate later: the last states of each object, found by the pod that they
 * concern. Bounded by what exists in the cluster and by time, however long the watch runs. Pure: its clock is the log's.
 */
import type { ObservedObject, Event } from '../model/kube.ts';
import type { Observation, ObservationOf } from '../model/observation.ts';
import { foldDated } from '../model/reduce/clocks.ts';
import { controllerOf } from '../model/pod.ts';
import { learn, objectsOf, type Subject } from '../model/select.ts';
import { emptyTrace } from '../model/trace.ts';
import { aboutKey, rememberedKey } from '../run/traces/shared-facts.ts';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** ms that Events, and objects that were removed, are remembered. A trigger is at most some minutes old. */
const rememberedMs = 10 * 60_000;

/** The last observations by key, and which keys belong to a namespace. */
function createRings() {
  /** `forMs`: until they are forgotten; Infinity: what exists. */
  const rings = new Map<string, { readonly seen: Observation[]; forMs: number }>();
  const lists = new Map<string, Observation>();
  /** The keys of the slices, Services and namespaces in each namespace. */
  const beside = new Map<string, Set<string>>();
  let sweptAt = -Infinity;
  return {
    put(key: string, o: Observation, most: number, forMs: number): void {
      const ring = rings.get(key) ?? { seen: [], forMs };
      ring.seen.push(o);
      ring.forMs = forMs;
      // A new generation shows what a user changed, so its first state stays longer than what only the status changed after it.
      const isAfterFirst = (_: Observation, index: number): boolean =>
        index > 0 && index < most && generationOf(ring.seen[index]) === generationOf(ring.seen[index - 1]);
      if (ring.seen.length > most) ring.seen.splice(Math.max(0, ring.seen.findIndex(isAfterFirst)), 1);
      rings.set(key, ring);
    },
    forget: (key: string): void => void rings.delete(key),
    /** A list is the whole state: what existed and is not in it is gone. Of owners it does not say of which kind, if it is empty. */
    keepOnly(keys: ReadonlySet<string>, { at, stream, objects: [first] }: ObservationOf<'listed'>): void {
      for (const [key, ring] of rings) {
        const last = ring.seen.at(-1);
        const [object] = last && 'stream' in last && last.stream === stream ? objectsOf(last) : [];
        const isOfList = object && (first ? object.kind === first.kind : stream !== 'owner');
        if (last && isOfList && !keys.has(key)) ring.forMs = Math.min(ring.forMs, at - last.at + rememberedMs);
      }
    },
    putList: (o: ObservationOf<'listed'>): void =>
      void lists.set(`${o.stream}/${o.name ?? ''}/${o.objects[0]?.kind ?? ''}`, { ...o, objects: [] }),
    putBeside(namespace: string, key: string): void {
      const keys = beside.get(namespace) ?? new Set();
      beside.set(namespace, keys.add(key));
    },
    recalled: (key: string): readonly Observation[] => rings.get(key)?.seen ?? [],
    lists: (): Iterable<Observation> => lists.values(),
    beside: (namespace: string): Iterable<string> => beside.get(namespace) ?? [],
    sweep(now: number): void {
      if (now - sweptAt < 60_000) return;
      sweptAt = now;
      for (const [key, { seen, forMs }] of rings) if ((seen.at(-1)?.at ?? now) < now - forMs) rings.delete(key);
      for (const [namespace, keys] of beside) {
        for (const key of keys) if (!rings.has(key)) keys.delete(key);
        if (keys.size === 0) beside.delete(namespace);
      }
    },
    size: (): number => rings.size,
  };
}

/** NaN without an object or a generation: no state is of the same one. */
const generationOf = (o: Observation | undefined): number => (o && objectsOf(o)[0]?.metadata.generation) ?? NaN;

/** The `Date` headers that bound the API server's clock. Hundreds come in a minute, and a few say all that they tell. */
function createDates() {
  let dates: readonly ObservationOf<'dated'>[] = [];
  return {
    all: () => dates,
    /** Returns whether it says more than the earlier ones. */
    take(o: ObservationOf<'dated'>): boolean {
      const fresh = [...dates.filter(({ at }) => at > o.at - rememberedMs), o];
      const { lower, upper } = fresh.reduce(foldDated, emptyTrace).clocks.dates;
      const bounds = new Set([...lower, ...upper].map(({ seq }) => seq));
      dates = fresh.filter(({ seq }) => bounds.has(seq));
      return bounds.has(o.seq);
    },
  };
}

export type Memory = ReturnType<typeof createMemory>;

export function createMemory() {
  /** The last state of each pod that does not terminate, by its uid. */
  const pods = new Map<string, PackedPod>();
  const packer = createPacker();
  const forget = (uid: string): void => void pods.delete(uid);
  const stateOf = (uid: string): readonly Observation[] =>
    [pods.get(uid)].flatMap((packed) => (packed ? packer.unpack(packed) : []));
  const dates = createDates();
  const rings = createRings();
  const putObject = (o: ObservationOf<'changed'> | ObservationOf<'listed'>, object: ObservedObject): void => {
    const isRemoved = o.kind === 'changed' && o.change === 'DELETED';
    const { namespace = '', name, uid } = object.metadata;
    // Its trace has its Events; those of the next pod of this name are still to come.
    if (object.kind === 'Pod' && isRemoved) return rings.forget(aboutKey(namespace, 'Pod', name));
    if (object.kind === 'Pod') return void pods.set(uid, packer.pack(o, controllerOf(object)?.uid ?? namespace));
    const key = rememberedKey(object);
    if (object.kind === 'Event') {
      if (isRemoved || isOld(object, o.at - rememberedMs) || isAmong(rings.recalled(key), object)) return;
      return rings.put(key, o, 16, rememberedMs); // Events about one object
    }
    // Both are read again for each pod that terminates.
    const isReread = object.kind === 'Lease' || object.kind === 'Namespace';
    rings.put(key, o, 4, isRemoved || isReread ? rememberedMs : Infinity); // changes of one object
    if (object.kind === 'Namespace') rings.putBeside(name, key);
    if (object.kind === 'EndpointSlice' || object.kind === 'Service') rings.putBeside(namespace, key);
  };
  return {
    take(o: Observation): void {
      rings.sweep(o.at);
      goneIn(o, pods.keys()).forEach(forget);
      if (o.kind === 'changed') return putObject(o, o.object);
      if (o.kind === 'listed') {
        // The Lease of a node is listed each time that a pod terminates there.
        if (o.name === undefined) rings.putList(o);
        for (const object of o.objects) putObject({ ...o, objects: [object] }, object);
        if (o.name === undefined) rings.keepOnly(new Set(o.objects.map(rememberedKey)), o);
      } else if (o.kind !== 'dated' && !('stream' in o && o.stream === 'lease') && !('pod' in o && o.pod !== undefined))
        rings.put('streams', o, 64, Infinity); // gaps, resumed streams and the like, of all streams
    },
    date: dates.take,
    forget,
    /** What concerns the pod, in the order of observation; `subject` learns its owners. */
    about(subject: Subject): Observation[] {
      const { uid, name, namespace = '' } = subject;
      const own = stateOf(uid);
      for (const object of own.flatMap(objectsOf)) learn(subject, object);
      const found = [...own, ...rings.lists(), ...dates.all()];
      // Learning from an owner adds its own owner to the map, which this loop then visits too.
      for (const [owner, kindAndName] of subject.owners) {
        const states = rings.recalled(`uid/${owner}`);
        for (const object of states.flatMap(objectsOf)) learn(subject, object);
        const [kind = '', ownerName = ''] = kindAndName.split('/');
        found.push(...states, ...rings.recalled(aboutKey(namespace, kind, ownerName)));
      }
      const node = subject.node ?? '';
      const ofNode = ['streams', `Node/${node}`, `Lease/${node}`, aboutKey('', 'Node', node)];
      const beside = [aboutKey(namespace, 'Pod', name), aboutKey(namespace, 'HorizontalPodAutoscaler', '')];
      return joined([...found, ...[...ofNode, ...beside, ...rings.beside(namespace)].flatMap(rings.recalled)]);
    },
    stateOf,
    statesOf: rings.recalled,
    sizes: () => ({ pods: pods.size, objects: rings.size() }),
  };
}

/** Each list of Events contains all of the last hour. */
const isOld = ({ metadata, lastTimestamp, eventTime }: Event, since: number): boolean =>
  Date.parse(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '') < since;

const isAmong = (seen: readonly Observation[], { metadata: { uid, resourceVersion } }: Event): boolean =>
  seen.flatMap(objectsOf).some((one) => one.metadata.uid === uid && one.metadata.resourceVersion === resourceVersion);

/** In order, with the parts of one list joined to one list again. */
function joined(found: readonly Observation[]): Observation[] {
  const bySeq = new Map<number, Observation>();
  for (const one of found) {
    const known = bySeq.get(one.seq);
    const both = known?.kind === 'listed' && one.kind === 'listed';
    bySeq.set(one.seq, both ? { ...known, objects: [...known.objects, ...one.objects] } : one);
  }
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** Those of `uids` whose pods are gone, as the observation shows. */
export function goneIn(o: Observation, uids: Iterable<string>): string[] {
  if (o.kind === 'changed') return o.object.kind === 'Pod' && o.change === 'DELETED' ? [o.object.metadata.uid] : [];
  if (o.kind !== 'listed' || o.stream !== 'pods') return [];
  const there = new Set(o.objects.map(({ metadata }) => metadata.uid));
  return [...uids].filter((uid) => !there.has(uid));
}

/** Keeps `kept` within `most` entries. */
export function forgetOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  const [oldest = ''] = kept.keys();
  if (kept.size > most) kept.delete(oldest);
}

/** An observation of one pod: its last change, or its part of a list. */
export type PodSeen = ObservationOf<'changed'> | ObservationOf<'listed'>;

interface PackedPod {
  readonly bytes: string;
  readonly dictionary: Buffer;
}

/**
 * Keeps the last state of a pod in little memory: thousands of pods are watched all day, and few of them terminate. The
 * pods of one workload differ in little, so each is deflated with another pod of its workload as the dictionary.
 */
export function createPacker() {
  const dictionaries = new Map<string, Buffer>();
  return {
    /** `kin`: pods with the same word look alike. */
    pack(seen: PodSeen, kin: string): PackedPod {
      const text = Buffer.from(JSON.stringify(seen));
      const known = dictionaries.get(kin);
      // A pod that has just been created says little: the longest state so far has the most in common with others.
      const dictionary = known && known.length * 1.1 > text.length ? known : text;
      if (dictionary !== known) {
        // A packed pod keeps its own alive.
        if (dictionaries.size >= 2000) dictionaries.clear();
        dictionaries.set(kin, dictionary);
      }
      // Small windows: each call allocates its own. Longer dictionaries would not be used as a whole.
      const bytes = deflateRawSync(text, { level: 1, memLevel: 4, windowBits: 12, dictionary });
      // Latin-1: one byte a character, and no buffer of its own for each pod.
      return { bytes: bytes.toString('latin1'), dictionary };
    },
    unpack: ({ bytes, dictionary }: PackedPod): PodSeen =>
      JSON.parse(inflateRawSync(Buffer.from(bytes, 'latin1'), { dictionary }).toString()) as PodSeen,
  };
}
