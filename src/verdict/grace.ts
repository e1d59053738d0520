/** Whether a deletion asked for less than the spec's grace period, and what to say of it. Pure. */
import type { RuleInput } from './rule-input.ts';

/** The grace period that a deletion asked for, and the spec's, in seconds. */
export function loweredGrace({ deletion, timeline }: RuleInput) {
  const { effectiveSeconds, counted, specSeconds: spec } = timeline.grace;
  // If the deletion was not seen to begin, a grace of 0 may be the kubelet's last DELETE, which no client asked for (SIGNALS.md trap 2).
  const asked = deletion.grace > 0 || deletion.isWitnessed ? effectiveSeconds : counted.max;
  // The kubelet treats 0 s as 1 s (SIGNALS.md §2 S1).
  return Math.max(1, asked) < spec ? { asked, spec } : undefined;
}

/** `the deletion asked for 1s instead of the spec's 30s`; undefined if it did not ask for less. */
export function loweredGraceText(input: RuleInput): string | undefined {
  const grace = loweredGrace(input);
  return grace && `the deletion ${askedText(grace)}`;
}

export const askedText = ({ asked, spec }: Record<'asked' | 'spec', number>): string =>
  `asked for ${asked}s instead of the spec's ${spec}s`;
