import { signalLag } from '../model/assumptions.ts';
import { isMadeUp, runtimeOf, statusOf, type ContainerSpec } from '../model/pod.ts';
import { factsOfLastRun } from './before-deletion.ts';
import type { ContainerContext, InferContext } from './context.ts';
import { moment } from './pod-network.ts';

/** What is known of a container before it is inferred whether and when the kubelet stopped it. */
export function containerContext(context: InferContext, spec: ContainerSpec): ContainerContext {
  const { deletion, kubelet, network } = context;
  const facts = factsOfLastRun(context, spec.name);
  const end = facts.terminated?.value;
  const isReported = end?.finishedAt !== undefined && !isMadeUp(end.reason, end.exitCode);
  const at = moment('exit', spec.name);
  return {
    ...context,
    spec,
    facts,
    status: statusOf(deletion.pod, spec.name),
    killings: kubelet.killings.get(spec.name) ?? [],
    ended: isReported && network.has(at) ? network.read(at) : undefined,
    lag: signalLag(deletion.pod.spec.runtimeClassName, runtimeOf(deletion.pod)),
  };
}
