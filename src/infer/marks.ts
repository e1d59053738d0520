/** Marks: the points of the timeline, with stable ids. Phases: the time between two known marks. Pure. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { StreamName } from '../model/observation.ts';
import type { MarkName } from '../model/report.ts';
import type { Fact, RequestFacts, Trace } from '../model/trace.ts';
import { constrainChange, writtenAt } from './arrival.ts';
import { isEndSettled, reportedExit, type ContainerExit, type Kubelet, type PodExit } from './context.ts';
import { isExecuted, mayHaveCounted, ranAtDeletion, sentAt } from './deletion.ts';
import { between, isBefore, isPast, onClient, type Estimate } from './estimate.ts';
import { shownLength, type Intervals, type TimelineMark } from './schedule.ts';
import { isKubeletStart } from './stop.ts';
import type { Interval, Mark, Phase } from './timeline.ts';

export function marksOf(exit: PodExit): TimelineMark[] {
  const { trace } = exit;
  const marks = [
    ...requestMarks(exit),
    ...mark('acknowledged', exit.kubelet.noticed, { note: killTrouble(exit) }),
    ...exit.containers.flatMap((container) => containerMarks(exit, container)),
    ...endpointMarks(exit),
    ...nodeMarks(exit),
    ...removalMarks(exit),
    ...replacementMarks(exit),
  ];
  return marks.filter(({ at }) => isPast(at, trace.now));
}

function mark(
  name: MarkName,
  at: Estimate | undefined,
  { subject, note, provisional = false }: Partial<Pick<TimelineMark, 'subject' | 'note' | 'provisional'>> = {},
): TimelineMark[] {
  if (!at) return [];
  const id = subject === undefined ? name : `${name}/${subject}`;
  return [{ id, name, subject, at, note, provisional }];
}

const requestMarks = ({ deletion: { ours, requested, accepted, pod } }: PodExit): TimelineMark[] => [
  ...(ours ? requestMark(ours, requested) : []),
  ...mark('accepted', accepted, { note: `deadline ${pod.metadata.deletionTimestamp ?? 'unknown'}` }),
];

const requestMark = ({ verb }: RequestFacts, at: Estimate | undefined): TimelineMark[] =>
  mark('requested', at, { note: `${verb === 'evict' ? 'eviction' : 'DELETE'}, uid precondition` });

function containerMarks(exit: PodExit, container: ContainerExit): TimelineMark[] {
  const { spec, hook, signal, facts } = container;
  const subject = spec.name;
  // The Event of a failed hook may still arrive, and show that no signal was sent.
  const isExitOpen = !reportedExit(container);
  const provisional = isExitOpen || hook?.mayStillFail === true;
  const again = container.graceStart && { ...container.graceStart };
  const lost = facts.readyLost && seenAt(exit, `ready-lost/${subject}`, facts.readyLost, 'pod');
  return [
    ...mark('stopping', container.stopping, { subject }),
    // A copy, as for `finalizing`.
    ...mark('stopping-again', container.killings.length > 1 ? again : undefined, { subject }),
    ...(container.ran && !hook?.mayNotHaveRun
      ? mark('prestop-ended', hook?.end, { subject, note: hook && `preStop ${hook.kind} ${hook.outcome}`, provisional })
      : []),
    ...mark('stop-signal', signal, { subject, note: signal?.name, provisional: provisional && !signal?.proved }),
    ...mark('kill', container.kill, { subject, note: 'SIGKILL' }),
    ...mark('exited', container.exit?.at, { subject, note: exitNote(container), provisional: isExitOpen }),
    // A container that has exited is not ready either.
    ...mark('ready-lost', lost && container.exit && isBefore(container.exit.at, lost) ? undefined : lost, {
      subject,
      provisional: isExitOpen,
    }),
  ];
}

function exitNote({ exit }: ContainerExit): string | undefined {
  if (exit?.code === undefined) return exit && 'its log ended';
  return exit.reason === undefined || exit.reason === 'Completed' || exit.reason === 'Error'
    ? `code ${exit.code}`
    : `code ${exit.code}, ${exit.reason}`;
}

const endpointMarks = ({ endpoints }: PodExit): TimelineMark[] =>
  endpoints.flatMap(({ slice, unroutedAt, removedAt, otherReady }) => [
    ...mark('unrouted', unroutedAt, {
      subject: slice,
      note: `${otherReady} other ready`,
    }),
    ...mark('endpoint-removed', removedAt, { subject: slice }),
  ]);

function nodeMarks(exit: PodExit): TimelineMark[] {
  const { trace, deletion } = exit;
  const name = trace.node?.value.metadata.name;
  const since = deletion.accepted.client.lo;
  // A node that goes from Unknown to False was not Ready before either.
  const changes = trace.nodeReady.filter((ready, index, all) => {
    const last = all[index - 1];
    return last && (last.value === 'True') !== (ready.value === 'True') && ready.at + 1 >= since;
  });
  const down = changes.find((ready) => ready.value !== 'True');
  const up = changes.find((ready) => ready.value === 'True' && (!down || ready.seq > down.seq));
  return [
    ...mark('node-not-ready', down && seenAt(exit, 'node-not-ready', down, 'node'), { subject: name }),
    ...mark('node-ready', up && seenAt(exit, 'node-ready', up, 'node'), { subject: name }),
    ...mark('kubelet-started', kubeletStart(exit), { subject: name }),
  ];
}

/** By the kubelet's own Event, if it arrived after the deletion (SIGNALS.md §2 "Kubelet restart"). */
function kubeletStart({ trace, network, deletion }: PodExit): Estimate | undefined {
  const fact = trace.events.find((one) => isKubeletStart(one) && !one.isOld && one.at >= deletion.accepted.client.lo);
  if (!fact) return undefined;
  const written = { lo: -Infinity, hi: fact.at + 1 };
  constrainChange(network, 'kubelet-started', { fact, written, stamp: fact.time, clock: 'node' });
  return network.observed('kubelet-started');
}

function seenAt({ trace, network, deletion }: PodExit, name: string, fact: Fact<unknown>, stream: StreamName) {
  constrainChange(network, name, { fact, written: writtenAt(trace, fact, stream) });
  network.notBefore(name, deletion.accepted);
  return network.observed(name);
}

function removalMarks(exit: PodExit): TimelineMark[] {
  const { network, trace } = exit;
  const held = heldSince(exit);
  return [
    ...mark('containers-done', network.observed('containers-done')),
    ...mark('final-delete', network.observed('final-delete')),
    // A copy, as the schedule knows each mark by its moment.
    ...mark('finalizing', held && { ...held }, { note: trace.finalizing?.value.join(', ') }),
    ...mark('removed', network.observed('removed')),
  ];
}

function heldSince({ trace, network, deletion }: PodExit): Estimate | undefined {
  const { finalizing } = trace;
  if (!finalizing || finalizing.value.length === 0) return undefined;
  // If nothing can run, the first DELETE is also the last one (trap 5).
  const isIdle = !ranAtDeletion(deletion) || deletion.pod.spec.nodeName === undefined;
  // If grace 0 was stored while it ran, the kubelet's last DELETE changes nothing, and is not seen (SIGNALS.md §0 row 9).
  return network.observed('final-delete') ?? (isIdle ? deletion.accepted : network.observed('containers-done'));
}

const replacementMarks = ({ replacement }: PodExit): TimelineMark[] =>
  (['created', 'scheduled', 'started', 'ready'] as const).flatMap((step) =>
    mark(`replacement-${step}`, replacement?.[`${step}At`], { subject: replacement?.name }),
  );

/** A note about a kill that fails or is overdue: after a hook at least 2 s remain (SIGNALS.md §2), and it can take 3 s. */
function killTrouble({ trace, containers }: PodExit): string | undefined {
  const failed = trace.events.findLast(({ reason }) => reason === 'FailedKillPod');
  if (failed) {
    const times = failed.count > 1 ? ` (${failed.count} times)` : '';
    return `its kill fails${times}: ${failed.message.slice(0, 200)}`;
  }
  const late = containers.filter(
    ({ ran, exit, graceEnd }) => ran && !exit && trace.now > (graceEnd?.client.hi ?? Infinity) + 5000,
  );
  return trace.gone || late.length === 0
    ? undefined
    : `the kill of ${late.map(({ spec }) => spec.name).join(', ')} is overdue`;
}

/** Without a deletion that was seen: our request, and the pod's removal. None as long as the pod may exist. */
export function unseenMarks(trace: Trace): TimelineMark[] {
  const { gone, pod, requests } = trace;
  if (!gone || !pod) return [];
  const request = requests.findLast(mayHaveCounted);
  const requested = request && sentAt(request);
  // The pod existed when its last state was written.
  const since = request && isExecuted(request) ? request.sent.at : pod.at - millisecondsOf('delivery-lag');
  const { lo, hi } = writtenAt(trace, gone, 'pod');
  const removed = onClient({ lo: Math.max(lo, since), hi }, [gone.seq], 'observed');
  return [...(request ? requestMark(request, requested) : []), ...mark('removed', removed)];
}

type PhaseEnds = Pick<Phase, 'name' | 'subject'> & Readonly<Record<'start' | 'end', Interval | undefined>>;

export function phasesOf(exit: PodExit, marks: readonly Mark[], intervals: Intervals): Phase[] {
  const at = (name: MarkName, slice?: string): Interval | undefined =>
    marks.find((one) => one.name === name && (slice === undefined || one.subject === slice))?.at;
  const accepted = at('accepted');
  // If finalizers held the object, its removal does not show when the clean-up ended.
  const cleaned = at('final-delete') ?? (at('finalizing') ? undefined : at('removed'));
  const all: PhaseEnds[] = [
    { name: 'accept', start: at('requested'), end: accepted },
    { name: 'notice', start: accepted, end: at('acknowledged') },
    ...exit.endpoints.map(({ slice }): PhaseEnds => ({
      name: 'route-removal',
      subject: slice,
      start: accepted,
      end: at('unrouted', slice),
    })),
    ...exit.containers
      .filter((one) => one.ran && isEndSettled(exit.trace, one))
      .flatMap((container) => containerPhases(container, intervals)),
    { name: 'cleanup', start: at('containers-done'), end: cleaned },
    { name: 'finalize', start: at('finalizing'), end: at('removed') },
    {
      name: 'replace',
      subject: exit.replacement?.name,
      start: at('replacement-created'),
      end: at('replacement-ready'),
    },
  ];
  return all.flatMap((one) => phaseOf(one, exit.kubelet));
}

/** Returns no phase if an end is not known yet, or nothing bounds the length. */
function phaseOf({ name, subject, start, end }: PhaseEnds, { grace }: Kubelet): Phase[] {
  if (!start || !end) return [];
  const lasted = between(start.estimate, end.estimate);
  const hi = Number.isFinite(lasted.hi) ? lasted.hi : Math.max(lasted.lo, end.latest - start.earliest);
  if (!Number.isFinite(hi)) return [];
  const length = shownLength({ lo: Math.max(0, lasted.lo), hi: Math.max(0, hi) }, start, end);
  const ofGrace = { min: length.min / (grace.max * 1000), max: length.max / (grace.min * 1000) };
  return [{ name, subject, start, end, length, ofGrace }];
}

function containerPhases(container: ContainerExit, { past }: Intervals): PhaseEnds[] {
  const { spec, hook, stopping, signal, kill, graceEnd } = container;
  const subject = spec.name;
  const ended = reportedExit(container);
  const ready = past(hook ? hook.end : stopping);
  const isHookShown = hook && !hook.mayNotHaveRun;
  const all: (PhaseEnds | false | undefined)[] = [
    isHookShown && { name: 'prestop', subject, start: past(hook.start, stopping), end: ready },
    spec.kind === 'sidecar' && { name: 'sidecar-wait', subject, start: ready, end: past(signal) },
    { name: 'drain', subject, start: past(signal), end: past(kill ?? ended) },
    overran(graceEnd, ended) && { name: 'overtime', subject, start: past(graceEnd), end: past(ended) },
  ];
  return all.filter((one) => one !== false && one !== undefined);
}

/** Whether a container exited certainly after the end of its grace (K + grace, SIGNALS.md trap 1). */
export const overran = (graceEnd: Estimate | undefined, exit: Estimate | undefined): boolean =>
  !!graceEnd && !!exit && (exit.node.lo >= graceEnd.node.hi || exit.client.lo >= graceEnd.client.hi);
