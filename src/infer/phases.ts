/** Phases: the stretches of the timeline, each between two moments. A phase is listed once both its ends are known. Pure. */
import type { PhaseName } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import type { Exit } from './conclusions.ts';
import { isEndSettled, type ContainerExit } from './context.ts';
import { between, capAtNow, onClient, type Estimate } from './estimate.ts';
import { shownLength, type TimelineScale } from './schedule.ts';
import type { Phase } from './timeline.ts';

/** A moment, and the id of the mark that it is. */
type End = readonly [at: Estimate | undefined, mark: string];

interface Stretch {
  readonly name: PhaseName;
  readonly subject?: string;
  readonly from: End;
  readonly to: End;
}

export function phasesOf(trace: Trace, exit: Exit, scale: TimelineScale): Phase[] {
  const stretches = [
    ...requestPhases(exit),
    ...exit.endpoints.map(({ slice, unrouted }): Stretch => {
      return { name: 'route-removal', subject: slice, from: accepted(exit), to: [unrouted, `unrouted/${slice}`] };
    }),
    ...exit.containers.filter((one) => one.ran && isEndSettled(trace, one)).flatMap(containerPhases),
    ...removalPhases(exit),
    ...replacePhases(exit),
  ];
  return stretches.flatMap((one) => phaseOf(one, trace, exit, scale));
}

/** Absent where an end is not known yet, and where not even the window bounds how long it took. */
function phaseOf({ name, subject, from, to }: Stretch, trace: Trace, exit: Exit, scale: TimelineScale): Phase[] {
  const [known, until] = [capAtNow(trace, from[0]), capAtNow(trace, to[0])];
  if (!from[0] || !to[0] || !known || !until) return [];
  const [start, end] = [scale.interval(known, from[1]), scale.interval(until, to[1])];
  const lasted = between(from[0], to[0]);
  const hi = Number.isFinite(lasted.hi) ? lasted.hi : Math.max(lasted.lo, end.latest - start.earliest);
  if (!Number.isFinite(hi)) return [];
  const { min, max } = exit.kubelet.grace;
  const length = shownLength({ lo: Math.max(0, lasted.lo), hi: Math.max(0, hi) }, start, end);
  const ofGrace = { min: length.min / (max * 1000), max: length.max / (min * 1000) };
  return [{ name, subject, start, end, length, ofGrace }];
}

const accepted = ({ deletion }: Exit): End => [deletion.accepted, 'accepted'];

function requestPhases(exit: Exit): Stretch[] {
  const { sent } = exit.deletion.ours ?? {};
  const sentAt = sent && onClient({ lo: sent.at, hi: sent.at + 1 }, [sent.seq], 'observed');
  return [
    { name: 'accept', from: [sentAt, 'requested'], to: accepted(exit) },
    { name: 'notice', from: accepted(exit), to: [exit.kubelet.noticed, 'acknowledged'] },
  ];
}

function containerPhases(container: ContainerExit): Stretch[] {
  const { spec, hook, stopping, signal, kill, exit, graceEnd } = container;
  const subject = spec.name;
  const ended: End = [exit?.provisional ? undefined : exit?.at, `exited/${subject}`];
  const called: End = [signal, `stop-signal/${subject}`];
  const turn: End = hook ? [hook.end, `prestop-ended/${subject}`] : [stopping, `stopping/${subject}`];
  const ran = hook && !hook.doubted;
  return [
    ...(ran
      ? [{ name: 'prestop', subject, from: [hook.start, `stopping/${subject}`], to: turn } satisfies Stretch]
      : []),
    ...(spec.kind === 'sidecar' ? [{ name: 'sidecar-wait', subject, from: turn, to: called } satisfies Stretch] : []),
    { name: 'drain', subject, from: called, to: kill ? [kill, `kill/${subject}`] : ended },
    ...(overran(container)
      ? [{ name: 'overtime', subject, from: [graceEnd, `grace-end/${subject}`], to: ended } satisfies Stretch]
      : []),
  ];
}

/** It was still there when the grace had certainly ended (K + grace, SIGNALS.md trap 1). */
export function overran({ graceEnd, exit }: ContainerExit): boolean {
  if (!graceEnd || !exit || exit.provisional) return false;
  return exit.at.node.lo >= graceEnd.node.hi || exit.at.client.lo >= graceEnd.client.hi;
}

function removalPhases({ removal }: Exit): Stretch[] {
  const { done, finalDelete, held, removed } = removal;
  const gone: End = [removed, 'removed'];
  // What finalizers held until it was removed says nothing of the clean-up.
  const cleaned: End = finalDelete ? [finalDelete, 'final-delete'] : [held ? undefined : removed, 'removed'];
  return [
    { name: 'cleanup', from: [done, 'containers-done'], to: cleaned },
    { name: 'finalize', from: [held, 'finalizing'], to: gone },
  ];
}

function replacePhases({ replacement }: Exit): Stretch[] {
  if (!replacement) return [];
  const { name, created, ready } = replacement;
  const [from, to] = [`replacement-created/${name}`, `replacement-ready/${name}`];
  return [{ name: 'replace', subject: name, from: [created, from], to: [ready, to] }];
}
