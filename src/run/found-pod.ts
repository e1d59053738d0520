/** The pod that a run is about, and which of that name. */
import { replacedPod } from '../kube/refused.ts';

export interface FoundPod {
  readonly name: string;
  /** Of the pod that was chosen or seen. Unknown where the user named it: then any pod of that name is meant. */
  readonly uid?: string;
}

/** Throws PodexitError `pod.replaced` where the pod that has the name now is not the one that was found. */
export function assertSame({ uid, name }: FoundPod, namespace: string, seen: unknown): void {
  if (uid !== undefined && seen !== uid) throw replacedPod(namespace, name);
}
