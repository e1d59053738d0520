/** Who held up a deletion: consecutive stretches with one owner each, which add up to the total. Pure. */
import { belongs } from '../infer/deletion.ts';
import { lengthBetween } from '../infer/schedule.ts';
import type { ContainerTimeline, Interval, Timeline } from '../infer/timeline.ts';
import { statusOf, statusesOf } from '../model/pod.ts';
import { parseFloor } from '../model/stamps.ts';
import { eventsAbout } from '../model/trace.ts';
import { retryMs, waitWithin } from './api-silence.ts';
import { containerSpec, mainContainers, markOf, ranContainers, signalName, type RuleInput } from './rule-input.ts';
import { list } from './words.ts';
import type { FindingCode, LedgerEntry, LedgerOwner, MarkName } from '../model/report.ts';
import { second } from '../model/span.ts';

/** A shorter wait of a component needs no proof of what it did. */
const longWaitMs = 2 * second;

/** It ends `at` this moment. `isProved`: an observation shows this owner, however long it took. */
interface Stretch {
  readonly at: Interval | undefined;
  readonly owner: LedgerOwner;
  readonly subject?: string | undefined;
  readonly what: string;
  readonly isProved?: boolean;
}

/** Empty as long as the pod is not removed. `codes`: of the findings. */
export function ledgerOf(input: RuleInput | undefined, codes: ReadonlySet<FindingCode>): LedgerEntry[] {
  const removed = input && markOf(input.timeline, 'removed')?.at.shown;
  if (!input || removed === undefined) return [];
  const { zero } = input.timeline;
  const entries: LedgerEntry[] = [];
  let [from, isVague, isWebhook] = [zero, false, false];
  for (const stretch of stretchesOf(input, codes)) {
    const until = Math.min(stretch.at?.shown ?? from, removed);
    if (until <= from) continue;
    const wasVague = isVague;
    isVague = stretch.at !== undefined && stretch.at.latest - stretch.at.earliest > longWaitMs;
    const isHeld = stretch.owner === 'api-server' && until - from >= admissionMs(input.timeline);
    const owned = isHeld ? { ...stretch, owner: 'admission' as const, isProved: true } : stretch;
    for (const { owner, subject, what, ...part } of split(input, owned, { from, until })) {
      const seconds = (Math.round(part.until - zero) - Math.round(part.from - zero)) / second;
      const entry = { owner, ...(subject !== undefined && { subject }), what, seconds };
      isWebhook ||= owner === 'admission' && isApiWell(input, part);
      if (seconds > 0) addTo(entries, { ...entry, ...((wasVague || isVague) && { approximate: true }) });
    }
    from = until;
  }
  // The kubelet may speak to another API server than podexit, whose own DELETE shows that this one was well.
  isWebhook &&= entries[0]?.owner === 'admission';
  const subject = `an admission webhook${isWebhook ? '' : ' or the API server'}`;
  return entries.map((entry) => (entry.owner === 'admission' ? { ...entry, subject } : entry));
}

/** Whether what others wrote arrived meanwhile, or we read at once, before any stream broke: then the API server did not stand still. */
function isApiWell({ trace }: RuleInput, { from, until }: { from: number; until: number }): boolean {
  const reads = trace.answers.filter(({ lo, hi, read }) => /stored|failed/.test(read ?? '') && hi > from && lo < until);
  const arrived = [...trace.nodeSigns.renewals, ...trace.events, ...reads.map(({ hi: at }) => ({ at }))];
  const breaks = [...trace.resumes.map(({ value }) => value.since), ...trace.gaps.map(({ value }) => value.from)];
  const whole = Math.min(until, ...breaks.filter((at) => at > from));
  return (
    arrived.some(({ at }) => at > from + 500 && at < whole - 500) &&
    reads.every(({ lo, hi, read }) => read === 'stored' && hi - lo < second)
  );
}

function addTo(entries: LedgerEntry[], next: LedgerEntry): void {
  const last = entries.at(-1);
  if (last?.owner === next.owner && last.subject === next.subject && last.what === next.what) {
    last.seconds = Math.round((last.seconds + next.seconds) * second) / second;
    if (next.approximate) last.approximate = true;
  } else entries.push(next);
}

/**
 * How long a DELETE waited in the API server, ms, if that is long: Infinity if not. Admission webhooks run for
 * each: for the kubelet's once before the grace period of 0 is written, and up to twice after (SIGNALS.md §1 "Admission").
 */
export function admissionMs(timeline: Timeline): number {
  const at = (name: MarkName): Interval | undefined => markOf(timeline, name)?.at;
  const [final, removed] = [at('final-delete'), at('removed')];
  const ours = (at('accepted')?.shown ?? timeline.zero) - timeline.zero;
  if (ours > longWaitMs) return ours;
  const isHeld = !final || !removed || (timeline.pod.metadata.finalizers ?? []).length > 0;
  const kubelets = isHeld ? 0 : lengthBetween(final, removed).min;
  return kubelets > longWaitMs ? kubelets / 2 : Infinity;
}

function stretchesOf(input: RuleInput, codes: ReadonlySet<FindingCode>): Stretch[] {
  const { timeline, deletion } = input;
  const at = (name: MarkName): Interval | undefined => markOf(timeline, name)?.at;
  const abandoned = mainContainers(timeline).find(({ outcome, preStop }) => outcome === 'abandoned' && !preStop);
  const main = lastOf(mainContainers(timeline));
  const side = lastOf(ranContainers(timeline));
  const admission = admissionMs(timeline);
  const [done, last] = [at('containers-done'), at('final-delete') ?? at('finalizing')];
  const held = { owner: 'admission', subject: undefined, isProved: true } as const;
  const [finalizers, node] = [deletion.pod.metadata.finalizers ?? [], deletion.pod.spec.nodeName ?? ''];
  const exit = (side ?? main)?.exit?.at;
  // A webhook that holds up the kubelet's statuses would have held up the first one too.
  const isFirstPrompt = (input.trace.acknowledged?.at ?? Infinity) - deletion.facts.seenAt < second;
  const isWell = isFirstPrompt && exit && done && isApiWell(input, { from: exit.shown, until: done.shown });
  const isRestart = (at('kubelet-started')?.shown ?? 0) > (exit?.shown ?? Infinity);
  const { renewals } = input.trace.nodeSigns;
  const isConnected = isWell && renewals.some((one) => one.at > exit.shown && one.at < done.shown - longWaitMs);
  const orOthers = isConnected ? ' or its container runtime' : ', its container runtime or its connection';
  const others = isRestart ? '' : isWell ? orOthers : undefined;
  const reported = kubeletStep(node, 'ended the sandbox and reported the exits', [exit, done], others);
  const unseen = main ? '' : list(mainContainers(timeline).map(({ name }) => name));
  const isRuntime = unseen !== '' && codes.has('runtime-unavailable');
  const isSlow = done && last && last.shown - done.shown >= admission;
  const cleaned = isSlow ? { ...last, shown: last.shown - admission } : last;
  return [
    { at: at('accepted'), owner: 'api-server', what: 'accepted the deletion', isProved: true },
    startOf(input, main ?? side),
    ...(main ? stopOf(main, codes) : []),
    ...(side && side !== main ? stopOf(side, codes) : []),
    // The kubelet writes statuses and sends its DELETEs one after the other, for all its pods (status_manager.go).
    isRuntime
      ? { ...reported, owner: 'runtime', subject: unseen, what: 'could not stop it, or it still ran', isProved: true }
      : reported.isProved || admission === Infinity
        ? reported
        : { ...reported, ...held, what: "held up the kubelet's requests" },
    {
      at: abandoned && at('removed'),
      owner: 'application',
      subject: abandoned?.name,
      what: 'still ran when the object was removed',
      isProved: true,
    },
    kubeletStep(node, 'removed volumes and cgroup', [done, cleaned]),
    { at: last, ...held, what: "accepted the kubelet's own DELETE" },
    finalizers.length > 0
      ? { at: at('removed'), owner: 'finalizers', subject: list(finalizers), what: 'kept the object', isProved: true }
      : { at: at('removed'), owner: 'api-server', what: 'removed the object' },
  ];
}

/** Only the kubelet acts after the exits (SIGNALS.md §2 S10 to S15): in 3 s on a node that is well. It repeats what failed after 10 s. */
function kubeletStep(node: string, what: string, [since, at]: (Interval | undefined)[], others?: string): Stretch {
  const ms = (at?.shown ?? NaN) - (since?.shown ?? NaN);
  const subject = `${node}${ms > 3 * second ? (others ?? ', its container runtime, the API server or the connection to it') : ''}`;
  return { at, owner: 'kubelet', subject, what, isProved: ms < retryMs || others !== undefined };
}

/** The container that ended last, if that is known of all. */
function lastOf(containers: readonly ContainerTimeline[]): ContainerTimeline | undefined {
  if (containers.some(({ exit }) => exit === undefined)) return undefined;
  return containers.toSorted((a, b) => (b.exit?.at.shown ?? 0) - (a.exit?.at.shown ?? 0))[0];
}

/** Until the kubelet began to stop the container: nobody else acts between the API server's acceptance and that (SIGNALS.md §2 S2). */
function startOf(input: RuleInput, container: ContainerTimeline | undefined): Stretch {
  const { timeline } = input;
  const at = container?.stopping ?? markOf(timeline, 'acknowledged')?.at;
  const starting = containerInPostStart(input);
  if (starting !== undefined)
    return { at, owner: 'post-start', subject: starting, what: 'its postStart hook still ran', isProved: true };
  const exit = container?.exit?.at;
  const { name: subject = '' } = container ?? {};
  const what = 'was being stopped already when the deletion came';
  // What its preStop hook took of it, if it has one, is not known.
  const isProved = containerSpec(timeline.pod, subject)?.lifecycle?.preStop === undefined;
  if (wasStopping(input, subject)) return { at: exit, owner: 'application', subject, what, isProved };
  if (exit && at && exit.shown < at.shown) return { at: exit, owner: 'unexplained', what: 'the containers ended' };
  return { at, owner: 'kubelet', subject: timeline.pod.spec.nodeName, what: 'began to stop the pod', isProved: true };
}

/** Of pods that the kubelet may have stopped by itself. `reason`: an Event's (SIGNALS.md §4). `isCertain`: it had begun. */
export const earlierStop = (input: RuleInput) => ({
  reason: input.trace.events.find(
    ({ reason, about, seq }) =>
      about.kind === 'Pod' &&
      /^(Evicted|Preempting|DeadlineExceeded)$/.test(reason) &&
      seq < input.deletion.facts.seenSeq,
  )?.reason,
  isCertain: mainContainers(input.timeline).every(({ name }) => wasStopping(input, name)),
});

/** A Killing of the run that the deletion found is certainly older than the deletion, so that run ended by that stop. */
function wasStopping(input: RuleInput, name: string): boolean {
  const { trace, deletion, network } = input;
  const { startedAt } = statusOf(deletion.pod, name)?.state.running ?? {};
  const isSameRun = trace.containers.get(name)?.terminated?.value.startedAt === startedAt;
  const since = startedAt ? isSameRun && parseFloor(startedAt)?.hi : startedBefore(input, name)?.time.lo;
  return eventsAbout(trace, 'Killing', name).some(
    (event) => event.time.lo >= (since || Infinity) && !belongs(deletion, event, network.toClient('node', event.time)),
  );
}

/** From there to the exit of the container. */
function stopOf(container: ContainerTimeline, codes: ReadonlySet<FindingCode>): Stretch[] {
  const { name: subject, kind, preStop, stopping, stopSignal, outcome, exit, killings } = container;
  const signal = signalName(container);
  const isRuntime = codes.has('runtime-unavailable');
  const hook = `its preStop hook (${preStop?.kind ?? ''})`;
  const turn = 'stops after the containers before it';
  // With a second Killing the kubelet began anew: whether the first call had sent the signal made no difference.
  const { at: retried } = (isRuntime && killings[1]) || {};
  const sent = stopSignal && { ...stopSignal, ...(retried && { earliest: retried, latest: retried, shown: retried }) };
  const call = isRuntime ? 'could not stop the container at first' : `got ${signal}`;
  // If the signal may have come at once or late, nothing shows which.
  const isLate = sent !== undefined && sent.shown > (stopping?.shown ?? Infinity) + longWaitMs;
  const mayBePrompt = !isRuntime && !preStop && isLate && sent.earliest <= (stopping?.latest ?? -Infinity);
  const waited = mayBePrompt ? undefined : sent;
  const after = mayBePrompt ? `had not got ${signal} yet, or ` : '';
  const app = `${after}${outcome === 'killed' ? 'did not exit on' : 'shut down after'} ${after ? 'it' : signal}`;
  return [
    { at: preStop && (preStop.end ?? stopSignal), owner: 'pre-stop', subject, what: hook, isProved: true },
    kind === 'sidecar'
      ? { at: stopSignal ?? exit?.at, owner: 'sidecar-order', subject, what: turn, isProved: true }
      : { at: waited, owner: 'runtime', subject, what: call, isProved: isRuntime },
    { at: exit?.at, owner: 'application', subject, what: app, isProved: stopSignal !== undefined },
  ];
}

/** It was started, and until its postStart hook is over its status does not say so (SIGNALS.md §2 S2). */
export function containerInPostStart(input: RuleInput): string | undefined {
  return statusesOf(input.deletion.pod).find(({ name }) => startedBefore(input, name) && !wasStopping(input, name))
    ?.name;
}

/** The last start before the deletion of a container that has a postStart hook and waits as far as its status says. */
function startedBefore({ trace, deletion: { pod, facts } }: RuleInput, name: string) {
  const isWaiting = statusOf(pod, name)?.state.waiting !== undefined;
  const mayStart = isWaiting && containerSpec(pod, name)?.lifecycle?.postStart !== undefined;
  return mayStart ? eventsAbout(trace, 'Started', name).findLast(({ seq }) => seq <= facts.seenSeq) : undefined;
}

type Part = Stretch & { readonly from: number; readonly until: number };

/** What needs the API server belongs to it as far as it did not answer. What is not proved and takes long has no owner. */
function split(input: RuleInput, stretch: Stretch, { from, until }: { from: number; until: number }): Part[] {
  const mayWait = ['api-server', 'kubelet', 'unexplained'].includes(stretch.owner);
  const wait = mayWait ? waitWithin(input, { lo: from, hi: until }) : undefined;
  if (!wait) return [withProof({ ...stretch, from, until })];
  const silent = {
    owner: 'api-server',
    what: 'did not answer, and others try again up to 10s later',
    subject: wait.isOfStorage ? "the API server's storage (etcd)" : undefined,
  } as const;
  return [
    withProof({ ...stretch, from, until: wait.from }),
    { ...stretch, ...silent, from: wait.from, until: wait.until },
    withProof({ ...stretch, from: wait.until, until }),
  ];
}

function withProof(part: Part): Part {
  const { owner, subject = 'the API server', what } = part;
  if (part.isProved || part.until - part.from <= longWaitMs || owner === 'unexplained') return part;
  const who = owner === 'kubelet' ? 'the kubelet' : subject;
  return { ...part, owner: 'unexplained', subject: undefined, what: `until ${who} ${what}` };
}
