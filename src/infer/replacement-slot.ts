/**
 * Some owners give their pods places: a StatefulSet by name, a DaemonSet by node, an indexed Job by index. A pod
 * in another place is no replacement.
 */
import type { Pod } from '../model/kube.ts';
import { controllerOf } from '../model/pod.ts';
import type { SiblingFacts } from '../model/trace.ts';

const index = (pod: Pod): string | undefined => pod.metadata.labels?.['batch.kubernetes.io/job-completion-index'];

/**
 * Whether it may take over from `own`: it is in the same place, or there are no places. Until a DaemonSet's pod has a
 * node it is unknown which one it is for.
 */
export function isReplacementSlot(own: Pod, { pod, node }: SiblingFacts): boolean {
  const sameName = pod.metadata.name === own.metadata.name;
  switch (controllerOf(own)?.kind) {
    case 'StatefulSet':
      return sameName;
    case 'DaemonSet':
      return sameName || (node !== undefined && node === own.spec.nodeName);
    case 'Job':
      return index(pod) === index(own);
    default:
      return true;
  }
}
