/** The conclusions about a deletion, from which the timeline is made: estimates on two clocks, and the facts behind them. */
import type { ContainerExit, Kubelet } from './context.ts';
import type { Deletion } from './deletion.ts';
import type { EndpointExit } from './endpoints.ts';
import type { Removal } from './removal.ts';
import type { Replacement } from './replacement.ts';
import type { Stage } from './stage.ts';
import type { Trigger } from './cause-window.ts';

export interface Exit {
  readonly deletion: Deletion;
  readonly kubelet: Kubelet;
  /** Where the clocks are tied to one another. */
  readonly stage: Stage;
  readonly containers: readonly ContainerExit[];
  readonly endpoints: readonly EndpointExit[];
  readonly removal: Removal;
  readonly replacement?: Replacement | undefined;
  readonly trigger: Trigger;
}
