/** What keeps the kubelet from ending a pod: its own complaint, or a kill that is overdue (SIGNALS.md §6 "stuck: where?"). */
import { isBefore, onNode } from '../estimate.ts';
import type { Exit } from '../conclusions.ts';
import type { Trace } from '../../model/trace.ts';

/** ms past the grace: at least 2 s remain after a hook (SIGNALS.md §2), and the kill itself may take about 3 s. */
const overdueAfter = 5000;
/** Characters of a runtime's error that are worth a line. */
const longestMessage = 200;

/** A phrase; undefined where nothing shows. */
export function killTrouble(trace: Trace, { deletion, containers }: Exit): string | undefined {
  const failed = trace.events
    .filter(({ reason, time }) => reason === 'FailedKillPod' && !isBefore(onNode(time, []), deletion.accepted))
    .at(-1);
  if (failed) {
    const times = failed.count > 1 ? ` (${failed.count} times)` : '';
    return `its kill fails${times}: ${failed.message.slice(0, longestMessage)}`;
  }
  const late = containers.filter(({ ran, exit, stopping }) => {
    const due = (stopping?.client.hi ?? Infinity) + deletion.grace * 1000 + overdueAfter;
    return ran && !exit && trace.now > due;
  });
  return trace.gone || late.length === 0
    ? undefined
    : `the kill of ${late.map(({ spec }) => spec.name).join(', ')} is overdue`;
}
