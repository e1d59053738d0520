/** The view model: everything that can be concluded from a trace, for all renderers and rules. */
import type { MarkName, PhaseName } from '../model/report.ts';
import type { Span } from '../model/span.ts';
import type { Pod } from '../model/kube.ts';
import type { ContainerExit, Kubelet } from './context.ts';
import type { Deletion } from './deletion.ts';
import type { EndpointExit } from './endpoints.ts';
import type { Estimate } from './estimate.ts';
import type { Stage } from './stage.ts';
import type { Removal } from './removal.ts';
import type { Replacement } from './replacement.ts';
import type { Trigger } from './cause-window.ts';

/** The conclusions about a deletion, before they become marks and phases. */
export interface Exit {
  readonly deletion: Deletion;
  readonly kubelet: Kubelet;
  /** Where the clocks are tied to one another. */
  readonly stage: Stage;
  readonly containers: readonly ContainerExit[];
  readonly endpoints: readonly EndpointExit[];
  readonly removal: Removal;
  readonly replacement?: Replacement;
  readonly trigger: Trigger;
}

/** A mark as the timeline knows it. `id` is stable; `provisional`: it may yet be corrected or withdrawn. */
export interface TimelineMark {
  readonly id: string;
  readonly name: MarkName;
  readonly subject?: string;
  readonly at: Estimate;
  readonly note?: string;
  readonly provisional: boolean;
}

export interface TimelinePhase {
  readonly name: PhaseName;
  readonly subject?: string;
  readonly start: Estimate;
  readonly end: Estimate;
  /** Milliseconds. */
  readonly lasted: Span;
}

export interface Conclusions {
  readonly pod: Pod;
  /** Absent until a deletion is seen. */
  readonly exit?: Exit;
  readonly marks: readonly TimelineMark[];
  readonly phases: readonly TimelinePhase[];
  /** Offsets (remote − client, ms); infinite where nothing is known. */
  readonly offsets: { readonly api: Span; readonly node: Span };
}
