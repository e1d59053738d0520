/** Who is to blame for a grace period that was too short: the spec, or a deletion that asked for less. Pure. */
import { isWitnessed } from '../infer/deletion.ts';
import type { RuleInput } from './rule-input.ts';

/** Seconds: the grace period that a deletion asked for, where it is shorter than the spec's. */
function loweredGrace({ trace, exit }: RuleInput): { asked: number; spec: number } | undefined {
  const { deletion, kubelet } = exit;
  // The 0 of a state that was not seen to begin may be the kubelet's last DELETE, and then no client asked for it (SIGNALS.md trap 2).
  const isAsked = deletion.grace > 0 || isWitnessed(trace, deletion.facts);
  const asked = Math.min(isAsked ? deletion.grace : Infinity, kubelet.grace.max);
  const spec = deletion.facts.first.value.spec.terminationGracePeriodSeconds ?? 30;
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
export function graceAdvice(input: RuleInput, { usual, faster, needs = 0 }: Remedy): string {
  const grace = loweredGrace(input);
  if (!grace) return usual;
  const asked = `The deletion asked for ${grace.asked}s instead of the spec's ${grace.spec}s`;
  if (needs >= grace.spec) return `${asked}, but even ${grace.spec}s are too few. ${usual}`;
  return `${asked}: delete without --grace-period, --now and --force, or ${faster}.`;
}
