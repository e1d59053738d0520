/** The streams of a run besides the pods, each opened once: 500 pods need 15 watches, and the logs that terminate. */
import { asObject, type JsonObject } from '../../model/observe/read.ts';
import { watchObjects } from '../../kube/watch.ts';
import type { Since } from '../../kube/watch-position.ts';
import type { RawObservation } from '../../model/observation.ts';
import { createLogs, deliverNamespace, follow, type FollowOptions } from './follow.ts';
import type { StreamGate } from './stream-health.ts';
import { reportLoss, warnRefused, type Run } from './live-run.ts';
import {
  candidateServices,
  deploymentOf,
  namespaceOf,
  nameOf,
  nodeTargets,
  ownerOf,
  ownersTarget,
  ownerTargets,
  podEventsTarget,
  runningContainers,
  siblingTarget,
  servicesTarget,
  sliceTarget,
  uidOf,
  type Watched,
} from './watched.ts';

/** Nodes whose Leases are watched. */
const maxNodes = 20;
/** Log streams that are open at the same time. */
const maxLogStreams = 100;

type Watch = (target: Watched, following?: FollowOptions) => void;

export type SharedStreams = ReturnType<typeof createSharedStreams>;

/** `gate`: what the DELETE waits for. */
export function createSharedStreams(run: Run, gate: StreamGate) {
  const opened = new Set<string>();
  const once = (key: string, work: () => void): void => {
    if (opened.has(key) || run.signal.aborted) return;
    opened.add(key);
    work();
  };
  const routes = createRoutes(run, gate);
  const watch: Watch = (target, following = {}) =>
    once(JSON.stringify(target), () => void follow(run, target, following));
  const owners = createOwners(run, watch);
  const leftOut = `more than ${maxLogStreams} logs at once: those of further pods are not followed: their SIGTERM and exit times are approximate`;
  const followLog = createLogs(run, maxLogStreams, () => once('logs left out', () => run.options.warn(leftOut)));
  return {
    listServices: routes.list,
    openRoutes: routes.open,
    openOwners: owners.open,
    openOwner: owners.openNamed,
    /** The pod's node and namespace; no DELETE waits for them. `isOwn`: this run has caused its deletion. */
    openPlace(pod: JsonObject, isOwn = false): void {
      const node = asObject(pod['spec'])['nodeName'];
      if (typeof node === 'string') once(`node/${node}`, () => openNode(run, node, opened, watch));
      const name = namespaceOf(pod) ?? run.options.cluster.namespace;
      once(`namespace/${name}`, () => (isOwn ? openNamespaceIfQuiet(run, name) : void deliverNamespace(run, name)));
    },
    /** The logs of the pod's containers, from its deletion or from now on. `isAwaited`: the DELETE waits for them. */
    openLogs(pod: JsonObject, isAwaited = false): void {
      for (const container of run.options.followLogs ? runningContainers(pod) : [])
        once(`log/${uidOf(pod)}/${container}`, () => followLog(pod, container, isAwaited ? gate : undefined));
    },
    /** The pod is gone. */
    closeOf: (_pod: JsonObject): void => {},
  };
}

function openNode({ options }: Run, node: string, opened: ReadonlySet<string>, watch: (target: Watched) => void): void {
  const count = [...opened].filter((key) => key.startsWith('node/')).length;
  if (count === maxNodes + 1)
    options.warn(`more than ${maxNodes} nodes: whether further kubelets are alive is not watched`);
  for (const target of nodeTargets(node)) if (count <= maxNodes || target.stream !== 'lease') watch(target);
}

const routingStreams = [{ stream: 'services' }, { stream: 'endpointslices' }] as const;

/** Lists the Services once, and watches all slices that may hold a pod of the run; a wider watch replaces it. */
function createRoutes(run: Run, gate: StreamGate) {
  const { options, signal, deliver } = run;
  const { namespace } = run.group;
  let listing: Promise<JsonObject[] | undefined> | undefined;
  let candidates: readonly JsonObject[] | undefined;
  let waiting: JsonObject[] = [];
  let stop = new AbortController();
  /** Handles pods that arrived together at once, because each wider watch replaces the previous one. */
  const openWaiting = async (): Promise<void> => {
    const services = await listing;
    if (!services || signal.aborted) return routingStreams.forEach(gate.open);
    const pods = waiting;
    waiting = [];
    const own = pods.flatMap((pod) => candidateServices(services, pod));
    const known = candidates;
    if (pods.length === 0 || (known && own.every((service) => known.includes(service)))) return;
    candidates = [...new Set([...(known ?? []), ...own])];
    const at = options.clock.now();
    deliver({ at, kind: 'listed', stream: 'services', resourceVersion: '', objects: [...candidates] });
    gate.open({ stream: 'services' });
    const slices = sliceTarget(namespace, [...new Set(candidates.map(nameOf))]);
    if (!slices) return gate.open({ stream: 'endpointslices' });
    const before = stop;
    stop = new AbortController();
    const onObservation = ({ kind }: RawObservation): void => void (kind === 'synced' && before.abort());
    await follow(run, slices, { signal: AbortSignal.any([stop.signal, signal]), onObservation, gate });
  };
  return {
    /** Lists the Services, which is possible before any pod is known. */
    list(): void {
      routingStreams.forEach(gate.expect);
      listing = listServices(run, servicesTarget(namespace), gate);
    },
    /** The Services and slices that route to the pod. */
    open(pod: JsonObject): void {
      waiting.push(pod);
      void openWaiting().catch(run.fail);
    },
  };
}

/** One paged list, no watch: Services change rarely, and a namespace may have a thousand. */
async function listServices(run: Run, target: Watched, gate: StreamGate): Promise<JsonObject[] | undefined> {
  let services: JsonObject[] | undefined;
  const deliver = (one: RawObservation): void => {
    if (one.kind === 'refused') warnRefused(run, one);
    if (one.kind === 'listed') services = one.objects.map(asObject);
    else if (one.kind !== 'synced') run.deliver(one);
  };
  try {
    await watchObjects(run.options.cluster, target, { signal: run.signal, deliver, once: true });
  } catch (error) {
    reportLoss(run, { stream: 'services' }, error);
  } finally {
    gate.open({ stream: 'services' });
  }
  return services;
}

type OwnerName = Record<'kind' | 'name', string>;

interface OwnerOptions {
  below?: JsonObject | undefined;
  /** A state of the pods from before the deletion: only siblings that are new since then matter. */
  since?: Since | undefined;
  /** This run has caused the deletion. */
  isOwn?: boolean;
  /** The owner that the pod names, to be watched if this one does not exist. */
  otherwise?: OwnerName | undefined;
}

/** Watches the owner, the owner's owner, and in a group of one the pods that the topmost owner selects. */
function createOwners(run: Run, watch: Watch) {
  const { options, group, listener } = run;
  const known = new Set<string>();
  const open = (namespace: string, owner: OwnerName, how: OwnerOptions = {}): void => {
    const { below, since, isOwn = false, otherwise } = how;
    const key = `${namespace}/${owner.kind}/${owner.name}`;
    const [byName, events] = ownerTargets(namespace, owner);
    if (known.has(key) || !byName) return openSiblings(below, since);
    known.add(key);
    const openAbove = (object: JsonObject | undefined): void => {
      const isThere = object && Object.keys(object).length > 0;
      const next = isThere ? ownerOf(object) : otherwise;
      const lowest = isThere ? object : below;
      if (next && ownerTargets(namespace, next).length > 0) open(namespace, next, { below: lowest, since, isOwn });
      else openSiblings(lowest, since);
    };
    // Beyond three owners by name, one watch covers all owners of a kind.
    const shared = !group.isOne && known.size > 3 ? ownersTarget(group.namespace, owner.kind) : undefined;
    const target = shared ?? byName;
    watch(target, {
      onObservation: (rawObservation) => {
        listener.ownerSeen?.(rawObservation, target);
        if (rawObservation.kind !== 'listed') return;
        if (!shared) return openAbove(asObject(rawObservation.objects[0]));
        const isKnown = (object: JsonObject): boolean =>
          known.has(`${namespaceOf(object) ?? ''}/${owner.kind}/${nameOf(object)}`);
        rawObservation.objects.map(asObject).filter(isKnown).forEach(openAbove);
      },
    });
    // Any other group has one stream for the Events about all owners.
    const saysMore = !isOwn || (options.waitReplacement && /^(?:StatefulSet|DaemonSet)$/.test(owner.kind));
    if (events && group.isOne && saysMore) watch(events);
  };
  const openSiblings = (owner: JsonObject | undefined, since?: Since): void => {
    const target = owner && group.isOne ? siblingTarget(group.namespace, owner) : undefined;
    if (target) watch(target, { since, onObservation: (one) => openEventsIfHeld(run, one, watch) });
  };
  return {
    /** An owner that is known before its pods. */
    openNamed: (owner: OwnerName): void => open(group.namespace, owner),
    /** The owners of the pod; no DELETE waits for them. `isOwn` saves three watches that say why the pod is deleted. */
    open(pod: JsonObject, { since, isOwn = false }: Pick<OwnerOptions, 'since' | 'isOwn'> = {}): void {
      const owner = ownerOf(pod);
      if (!owner) return;
      const name = isOwn ? deploymentOf(pod) : undefined;
      const guessed = name === undefined ? undefined : { kind: 'Deployment', name };
      open(namespaceOf(pod) ?? options.cluster.namespace, guessed ?? owner, {
        since,
        isOwn,
        otherwise: guessed && owner,
      });
    },
  };
}

/** Watches the Events about a new pod that has not started after 2 s, as no state says that a volume is missing. */
function openEventsIfHeld({ options, traceOf, timers }: Run, one: RawObservation, watch: Watch): void {
  if (one.kind !== 'changed' || one.change !== 'ADDED' || timers.has('replacement')) return;
  const pod = asObject(one.object);
  const check = (): void => {
    const { siblings, pod: own } = traceOf('') ?? {};
    const { old = true, started, held } = siblings?.get(uidOf(pod)) ?? {};
    if (old || started || held || nameOf(pod) === own?.value.metadata.name) return;
    const events = podEventsTarget(namespaceOf(pod) ?? options.cluster.namespace, nameOf(pod));
    watch({ ...events, stream: 'owner-events' });
  };
  timers.set('replacement', options.clock.setTimeout(check, 2000));
}

/** Reads the namespace if no Killing has come in 2 s: a kubelet posts one, unless the namespace terminates and takes no Events. */
function openNamespaceIfQuiet(run: Run, name: string): void {
  const check = (): void => {
    const { events = [], requests: [request] = [] } = run.traceOf('') ?? {};
    const isKilling = events.some(({ reason, seq }) => reason === 'Killing' && seq > (request?.sent.seq ?? Infinity));
    if (!isKilling) void deliverNamespace(run, name);
  };
  run.timers.set('namespace', run.options.clock.setTimeout(check, 2000));
}
