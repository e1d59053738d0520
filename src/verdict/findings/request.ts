/** Findings about our own request. */
import type { FindingDraft } from '../finding.ts';
import type { RuleInput } from '../rule-input.ts';

/** A DELETE of a pod that is terminating is answered like any other (SIGNALS.md §1 "Repeat delete"). */
export function requestFindings({ exit }: RuleInput): FindingDraft[] {
  const { deletedByOther, facts, grace } = exit.deletion;
  if (!deletedByOther?.answer) return [];
  const { verb, graceSeconds } = deletedByOther;
  const asked = graceSeconds === null || graceSeconds === grace ? '' : ` instead of the ${graceSeconds}s asked for`;
  return [
    {
      code: 'deleted-before',
      severity: 'warning',
      message: `another client had deleted the pod before this command's ${verb === 'evict' ? 'eviction' : 'DELETE'}: its grace period was ${grace}s${asked}`,
      clause: 'another client had deleted the pod before',
      advice:
        'Find out who else deletes these pods: a controller, a drain, an autoscaler. A second request rarely shortens a kill in progress.',
      evidence: [deletedByOther.sent.seq, deletedByOther.answer.seq, facts.seenSeq],
    },
  ];
}
