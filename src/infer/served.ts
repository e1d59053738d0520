/** Until when a container took new requests: what a probe of the pod itself (`--probe pod`) proves. Pure. */
import { containersOf } from '../model/pod.ts';
import { atLeast, atMost } from '../model/span.ts';
import type { Estimate } from './estimate.ts';
import type { InferContext } from './context.ts';
import { probeResultsOf } from './probes.ts';
import { moment } from './stage.ts';
import type { Stage } from './stage.ts';

/**
 * A request that it answered was sent while it took requests, and so while it lived; where the port refuses, it takes none any
 * more. Said of one container alone: of several nobody knows which one answered. And only where the pod alone can have
 * answered: neither a node's address nor a name that its successor has (StatefulSet, bare pods) says which pod did, nor does an
 * address that answers after the container's end is known.
 */
export function stateServed({
  trace,
  deletion,
  stage,
}: Pick<InferContext, 'trace' | 'deletion'> & { stage: Stage }): void {
  const { metadata, spec } = deletion.facts.first.value;
  const [only, ...others] = containersOf(deletion.facts.first.value);
  const { uid, ownerReferences = [] } = metadata;
  const isOwnName = ownerReferences.some(({ kind }) => ['ReplicaSet', 'DaemonSet', 'Job'].includes(kind));
  if (!only || others.length > 0 || !isOwnName || spec.hostNetwork === true) return;
  const endKnownAt = trace.containers.get(only.name)?.terminated?.at ?? Infinity;
  const [served, exit] = [moment('served', only.name), moment('exit', only.name)];
  for (const { answered, refusedBy, pod } of probeResultsOf(trace.probes, {})) {
    if (pod !== uid || !answered || answered.last >= endKnownAt) continue;
    stage.follows(served, exit, {}, { because: 'it answers while it lives' });
    stage.within(
      served,
      { client: atLeast(answered.last) },
      { because: 'it answered a request that was sent then', evidence: [answered.seq] },
    );
    if (refusedBy)
      stage.within(
        served,
        { client: atMost(refusedBy.at + 1) },
        { because: 'its port refused a connection', evidence: [refusedBy.seq] },
      );
  }
}

/** Undefined where no probe asked it, or nothing bounds when it stopped. */
export function servedOf({ stage }: { stage: Stage }, container: string): Estimate | undefined {
  const at = moment('served', container);
  const known = stage.net.has(at) ? stage.read(at) : undefined;
  return known && Number.isFinite(known.client.lo) && Number.isFinite(known.client.hi) ? known : undefined;
}
