/** The pod that a run is about, and which of that name. */
import { PodexitError } from '../errors.ts';

export interface FoundPod {
  readonly name: string;
  /** Of the pod that was chosen or seen. Unknown where the user named it: then whoever has the name is meant. */
  readonly uid?: string;
}

/** Whoever has the name now is not the one that was chosen. */
const replacedPod = (namespace: string, name: string): PodexitError =>
  new PodexitError(
    'pod.replaced',
    `pod "${name}" in namespace "${namespace}" was replaced by another one of the same name, which is left alone`,
    'Run the command again to trace the new pod.',
  );

/** Throws PodexitError `pod.replaced`. */
export function assertSame({ uid, name }: FoundPod, namespace: string, seen: unknown): void {
  if (uid !== undefined && seen !== uid) throw replacedPod(namespace, name);
}
