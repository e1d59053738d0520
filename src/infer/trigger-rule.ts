/** What a rule about the cause of a deletion is, and what it concludes. */
import type { TriggerKind } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import type { Deletion } from './deletion.ts';

export interface Trigger {
  readonly kind: TriggerKind;
  readonly evidence: readonly number[];
  /** In words, for people: what more is known. */
  readonly note?: string;
}

/** Undefined where it does not hold. */
export type Rule = (trace: Trace, deletion: Deletion) => Trigger | undefined;
