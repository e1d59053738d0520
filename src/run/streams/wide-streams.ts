/** The streams of an endless run besides the pods; logs and Leases only while a pod terminates, within a bound. */
import { asObject, type JsonObject } from '../../model/observe/read.ts';
import { createLogs, deliverNamespace, follow } from './follow.ts';
import type { Run } from './live-run.ts';
import type { SharedStreams } from './shared-streams.ts';
import type { StreamGate } from './stream-health.ts';
import {
  namespaceOf,
  nodesTargets,
  nodeTargets,
  objectsIn,
  ownerOf,
  ownersTarget,
  runningContainers,
  servicesTarget,
  slicesTarget,
  uidOf,
} from './watched.ts';

/** `gate`: the streams that a pod must not terminate without, or its report has a gap. */
export function createWideStreams(run: Run, gate: StreamGate): SharedStreams {
  const { namespace } = run.group;
  const kinds = new Set<string>();
  const openKind = (kind: string): void => {
    const target = ownersTarget(namespace, kind);
    if (!target || kinds.has(kind)) return;
    kinds.add(kind);
    void follow(run, target, {
      onObservation(rawObservation) {
        for (const object of objectsIn(rawObservation)) openKind(ownerOf(object)?.kind ?? '');
      },
    });
  };
  const leases = createLeases(run);
  const namespaces = new Set<string>();
  const followLog = createLogs(run, 50);
  return {
    listServices() {
      for (const target of [servicesTarget(namespace), slicesTarget(namespace)]) void follow(run, target, { gate });
      for (const target of nodesTargets()) void follow(run, target);
    },
    openRoutes: () => {},
    openOwners: (pod) => openKind(ownerOf(pod)?.kind ?? ''),
    openOwner: ({ kind }) => openKind(kind),
    openPlace(pod) {
      leases.open(pod);
      const name = namespaceOf(pod) ?? run.options.cluster.namespace;
      if (namespaces.has(name)) return;
      namespaces.add(name);
      // It is read again after 10 s, to see whether it is terminating.
      const forget = (): void => void namespaces.delete(name);
      run.timers.set(`namespace/${name}`, run.options.clock.setTimeout(forget, 10_000));
      void deliverNamespace(run, name);
    },
    openLogs(pod) {
      // Beyond the bound the times of its containers are less exact; they stay right.
      for (const container of run.options.followLogs ? runningContainers(pod) : []) followLog(pod, container);
    },
    closeOf: leases.close,
  };
}

/** The Leases of nodes on which pods terminate. No AbortSignal.any: on Node 20 the run's signal would keep each of them. */
function createLeases(run: Run) {
  const open = new Map<string, { pods: Set<string>; stop: AbortController }>();
  run.signal.addEventListener('abort', () => open.forEach(({ stop }) => stop.abort()));
  return {
    open(pod: JsonObject): void {
      const node = asObject(pod['spec'])['nodeName'];
      if (typeof node !== 'string') return;
      const known = open.get(node);
      if (known || open.size >= 20) return void known?.pods.add(uidOf(pod));
      const stop = new AbortController();
      open.set(node, { pods: new Set([uidOf(pod)]), stop });
      const target = nodeTargets(node).find(({ stream }) => stream === 'lease');
      if (target) void follow(run, target, { signal: stop.signal });
    },
    /** The pod is gone. */
    close(pod: JsonObject): void {
      const node = String(asObject(pod['spec'])['nodeName']);
      const known = open.get(node);
      if (!known?.pods.delete(uidOf(pod)) || known.pods.size > 0) return;
      known.stop.abort();
      open.delete(node);
    },
  };
}
