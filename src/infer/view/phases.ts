/** Phases: the stretches of the timeline. A phase is listed once both its ends are known. */
import type { ContainerExit } from '../context.ts';
import type { Estimate } from '../estimate.ts';
import { between, onClient } from '../estimate.ts';
import type { PhaseName } from '../../model/report.ts';
import type { Exit, TimelinePhase } from '../conclusions.ts';
import type { Trace } from '../../model/trace.ts';
import { isEndSettled, capAtNow } from './cap-at-now.ts';

export function phasesOf(trace: Trace, exit: Exit): TimelinePhase[] {
  const phases = [
    ...requestPhases(exit),
    ...exit.endpoints.flatMap(({ slice, unrouted }) => phase('route-removal', exit.deletion.accepted, unrouted, slice)),
    ...exit.containers.filter((one) => one.ran && isEndSettled(trace, one)).flatMap(containerPhases),
    ...removalPhases(exit),
    ...replacePhases(exit),
  ];
  return phases.flatMap((one) => {
    const start = capAtNow(trace, one.start);
    const end = capAtNow(trace, one.end);
    return start && end ? [{ ...one, start, end }] : [];
  });
}

function phase(
  name: PhaseName,
  start: Estimate | undefined,
  end: Estimate | undefined,
  subject?: string,
): TimelinePhase[] {
  if (!start || !end) return [];
  return [{ name, ...(subject === undefined ? {} : { subject }), start, end, lasted: between(start, end) }];
}

function requestPhases({ deletion, kubelet }: Exit): TimelinePhase[] {
  const { ours, accepted } = deletion;
  const sent = ours && onClient({ lo: ours.sent.at, hi: ours.sent.at + 1 }, [ours.sent.seq], 'observed');
  return [...phase('accept', sent, accepted), ...phase('notice', accepted, kubelet.noticed)];
}

function containerPhases(container: ContainerExit): TimelinePhase[] {
  const { spec, hook, stopping, signal, kill, exit, graceEnd } = container;
  const gone = kill ?? (exit?.provisional ? undefined : exit?.at);
  const began = hook?.start ?? stopping;
  const waits = spec.kind === 'sidecar' ? phase('sidecar-wait', hook?.end ?? stopping, signal, spec.name) : [];
  return [
    ...(hook && !hook.doubted ? phase('prestop', began, hook.end, spec.name) : []),
    ...waits,
    ...phase('drain', signal, gone, spec.name),
    ...(graceEnd && exit && !exit.provisional && overran(container)
      ? phase('overtime', graceEnd, exit.at, spec.name)
      : []),
  ];
}

/** It was still there when the grace had certainly ended (K + grace, SIGNALS.md trap 1). */
export function overran({ graceEnd, exit }: ContainerExit): boolean {
  if (!graceEnd || !exit || exit.provisional) return false;
  return exit.at.node.lo >= graceEnd.node.hi || exit.at.client.lo >= graceEnd.client.hi;
}

function removalPhases({ removal }: Exit): TimelinePhase[] {
  const { done, finalDelete, held, removed } = removal;
  // What finalizers held until it was removed says nothing of the clean-up.
  const cleaned = finalDelete ?? (held ? undefined : removed);
  return [...phase('cleanup', done, cleaned), ...phase('finalize', held, removed)];
}

const replacePhases = ({ replacement }: Exit): TimelinePhase[] =>
  phase('replace', replacement?.created, replacement?.ready, replacement?.name);
