/** Findings about our own request. */
import type { Finding } from '../../model/report.ts';
import type { Scene } from '../scene.ts';

/** A DELETE of a pod that is terminating is answered like any other (SIGNALS.md §1 "Repeat delete"). */
export function requestFindings({ exit }: Scene): Finding[] {
  const { outrun, facts, grace } = exit.deletion;
  if (!outrun?.answer) return [];
  const { verb, graceSeconds } = outrun;
  const asked =
    graceSeconds === null || graceSeconds === grace ? '' : `, not the ${graceSeconds} s that were asked for`;
  return [
    {
      code: 'deleted-before',
      severity: 'warning',
      message: `this command's ${verb === 'evict' ? 'eviction' : 'DELETE'} did not begin this deletion, somebody else's did: its grace was ${grace} s${asked}`,
      advice:
        'Find out who else deletes these pods. A request for a pod that is terminating can only shorten its grace, and seldom reaches a kill that is running.',
      evidence: [outrun.sent.seq, outrun.answer.seq, facts.seenSeq],
    },
  ];
}
