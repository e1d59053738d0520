/** All that is watched beside the pod, opened as soon as what it hangs on is known. */
import { getObject } from '../kube/get.ts';
import { listUids } from '../kube/list-uids.ts';
import { listPatiently } from '../kube/list-patiently.ts';
import { refusedBy } from '../kube/refused.ts';
import { readRefusal } from '../kube/status.ts';
import { follow, followContainer, lose, warnRefused, watchTarget } from './follow.ts';
import type { Gate } from './gate.ts';
import { createGate } from './gate.ts';
import { handOverSiblings, joinRoutes } from './hand-over.ts';
import type { Run } from './live.ts';
import { once } from './once.ts';
import type { ToldRoutes } from './routes-ahead.ts';
import type { Raw, Target } from './watched.ts';
import {
  asRaw,
  candidateServices,
  kinTarget,
  namesOf,
  nodeTargets,
  ownerOf,
  ownerTargets,
  runningContainers,
  siblingTarget,
  sliceTarget,
} from './watched.ts';

/** What is known of who may route to the pod. */
export interface Routes {
  /** The namespace's Services; undefined where they may not be listed. */
  readonly listed: Promise<Raw[] | undefined>;
  /** What was heard before this run. */
  readonly told: ToldRoutes | undefined;
}

/** Lanes that the DELETE waits for open `gate`. The owner's are asked for too: siblings are told by who came first. */
export function openFirstLanes(run: Run, pod: Raw, routes: Routes, gate: Gate): void {
  const { options, fail } = run;
  void openRoutes(run, pod, routes, gate).catch(fail);
  if (options.followLogs)
    for (const container of runningContainers(pod)) void followContainer(run, pod, container, gate);
  const owner = ownerOf(pod);
  if (owner) openOwner(run, owner);
}

/**
 * Who there is of the same controller. Its siblings' own stream hangs on the owner and may come after the DELETE, which waits
 * for neither.
 */
export async function lookAtKin({ options, signal, deliver }: Run, pod: Raw): Promise<void> {
  const target = kinTarget(options.namespace, pod);
  if (!target) return;
  const kin = await listUids(options.cluster, watchTarget(target), signal);
  if (kin) await deliver({ kind: 'kin', ...kin });
}

/**
 * Lanes that no DELETE waits for. The node itself is asked for at once: that it becomes NotReady is only told by comparison
 * with what was before. News of the others is as good a little later.
 */
export function openLastLanes(run: Run, pod: Raw): void {
  const node = asRaw(pod['spec'])['nodeName'];
  for (const target of typeof node === 'string' ? nodeTargets(node) : []) {
    const open = (): void => void follow(run, target, createGate());
    if (target.stream === 'node') open();
    else run.later.add(open);
  }
  run.later.add(() => void lookAtNamespace(run));
}

/** One paged list, never watched: Services change rarely, and a namespace may have a thousand. */
export async function listServices(run: Run, target: Target, gate: Gate): Promise<Raw[] | undefined> {
  const { options, signal, deliver } = run;
  gate.expect('services');
  gate.expect('endpointslices');
  try {
    const result = await listPatiently(options.cluster, watchTarget(target), { signal, tell: deliver });
    if (!result) return undefined;
    if (result.kind === 'listed') return result.objects.map(asRaw);
    const refused = refusedBy(options.cluster, watchTarget(target), { refusal: result.refusal, verb: 'list' });
    if (refused.kind === 'refused') warnRefused(run, refused);
    await deliver(refused);
  } catch (error) {
    await lose(run, { stream: 'services' }, error);
  }
  return undefined;
}

async function openRoutes(run: Run, pod: Raw, { listed, told }: Routes, gate: Gate): Promise<void> {
  const { namespace, clock } = run.options;
  const services = await listed;
  if (!services) return ['services', 'endpointslices'].forEach(gate.open);
  const candidates = candidateServices(services, pod);
  const at = clock.now();
  await run.deliver({ at, kind: 'listed', stream: 'services', resourceVersion: '', objects: candidates });
  gate.open('services');
  const slices = sliceTarget(namespace, namesOf(candidates));
  if (!slices) return gate.open('endpointslices');
  const join = once((lookedAt: number) => joinRoutes(run, told, candidates, lookedAt));
  await follow(run, slices, gate, (sighting) => void (sighting.kind === 'listed' && join(sighting.at)));
}

/** The owner, the owner's owner, and the pods of the topmost one's selector. */
function openOwner(run: Run, owner: { kind: string; name: string }, below?: Raw): void {
  const { namespace } = run.options;
  const targets = ownerTargets(namespace, owner);
  const openAbove = once((object: Raw) => {
    const above = ownerOf(object);
    if (above && ownerTargets(namespace, above).length > 0) openOwner(run, above, object);
    else openSiblings(run, Object.keys(object).length > 0 ? object : below);
  });
  for (const target of targets) {
    const open = (): void =>
      void follow(run, target, createGate(), (sighting) => {
        if (target.stream === 'owner' && sighting.kind === 'listed') openAbove(asRaw(sighting.objects[0]));
      });
    // Its answers come when the DELETE is sent already.
    if (below && target.stream === 'owner-events') run.later.add(open);
    else open();
  }
  if (targets.length === 0) openSiblings(run, below);
}

function openSiblings(run: Run, owner: Raw | undefined): void {
  const target = owner && siblingTarget(run.options.namespace, owner);
  if (!target) return;
  const join = once(handOverSiblings(run, target));
  void follow(run, target, createGate(), (sighting) => void (sighting.kind === 'listed' && join(sighting.at)));
}

/** Whether the namespace itself is on its way out: one GET. A 404 is no answer to that, and no loss. */
export async function lookAtNamespace(run: Run): Promise<void> {
  const { options, signal, deliver } = run;
  const { cluster } = options;
  const path = `/api/v1/namespaces/${encodeURIComponent(options.namespace)}`;
  const stream = 'namespace';
  try {
    const { status, at, body } = await getObject(cluster, path, { signal });
    if (status === 200) await deliver({ at, kind: 'listed', stream, resourceVersion: '', objects: [body] });
    else if (status !== 404)
      await deliver(refusedBy(cluster, { stream, path }, { refusal: readRefusal(status, body), verb: 'get' }));
  } catch (error) {
    await lose(run, { stream }, error);
  }
}
