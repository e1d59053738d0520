/** The grace period: how much of it a container used, and who is to blame where it was too short. Pure. */
import { isWitnessed } from '../infer/deletion.ts';
import type { RuleInput } from './rule-input.ts';

/** Seconds of grace that a deletion asked for, and the spec's that it gave up by that. */
export interface LoweredGrace {
  readonly asked: number;
  readonly spec: number;
}

/** Undefined where the pod was left its own grace, or more. */
export function loweredGrace({ trace, exit }: RuleInput): LoweredGrace | undefined {
  const { deletion, kubelet } = exit;
  // The 0 of a state that was not seen to begin may be the kubelet's last DELETE, which nobody asked for (SIGNALS.md trap 2).
  const isAsked = deletion.grace > 0 || isWitnessed(trace, deletion.facts);
  const left = Math.min(isAsked ? deletion.grace : Infinity, kubelet.grace.max);
  return lowered(left, deletion.facts.first.value.spec.terminationGracePeriodSeconds);
}

/** The same of a grace that is only asked for yet. */
function lowered(asked: number, spec = 30): LoweredGrace | undefined {
  // The kubelet makes 1 s of 0 s (SIGNALS.md §2 S1).
  return Math.max(1, asked) < spec ? { asked, spec } : undefined;
}

/** A forced deletion says nothing about how long hook and drain should be. */
export const isForced = (input: RuleInput): boolean => loweredGrace(input)?.asked === 0;

/** What would have helped. */
export interface Remedy {
  /** Where the spec's own grace was too short: a sentence. */
  readonly usual: string;
  /** What the pod itself can do about it, behind "or". */
  readonly faster: string;
  /** Seconds that would have done, where that is known. */
  readonly needs?: number | undefined;
}

/** What to do about a grace period that was too short. */
export function graceAdvice(grace: LoweredGrace | undefined, { usual, faster, needs = 0 }: Remedy): string {
  if (!grace) return usual;
  const asked = `The deletion asked for ${grace.asked}s instead of the spec's ${grace.spec}s`;
  if (needs >= grace.spec) return `${asked}, but even ${grace.spec}s are too few. ${usual}`;
  return `${asked}: delete without --grace-period, --now and --force, or ${faster}.`;
}
