/** What a container's inference needs of its surroundings. */
import type { Trace } from '../model/trace.ts';
import type { Deletion } from './deletion.ts';
import type { Kubelet } from './kubelet.ts';

export interface Scene {
  readonly trace: Trace;
  readonly deletion: Deletion;
  readonly kubelet: Kubelet;
}
