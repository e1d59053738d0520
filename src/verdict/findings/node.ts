/** Findings about the kubelet and its node. */
import { millisecondsOf } from '../../model/assumptions.ts';
import { deliverableSince } from '../../infer/arrival.ts';
import { requestedAt } from '../../infer/cause-window.ts';
import type { ContainerExit } from '../../infer/context.ts';
import { between } from '../../infer/estimate.ts';
import { killingsUnwritten } from '../../infer/missing-events.ts';
import { isStart } from '../../infer/stop-attempts.ts';
import type { StreamName } from '../../model/observation.ts';
import { isFinished } from '../../model/pod.ts';
import type { FindingDraft } from '../finding.ts';
import { second, type Span } from '../../model/span.ts';
import type { Occurrence } from '../../model/trace.ts';
import { mainExitsOf, markOf, type RuleInput } from '../rule-input.ts';
import { lengthText, secondsText } from '../length-text.ts';

const silence = 10 * second;

export const nodeFindings = (input: RuleInput): FindingDraft[] => [
  ...nodeSilent(input),
  ...slowStart(input),
  ...kubeletRestarted(input),
  ...runtimeUnavailable(input),
  ...graceShortenedIgnored(input),
];

/** No kubelet takes part in the end of an unscheduled or finished pod (SIGNALS.md trap 5). */
function hasKubelet({ exit }: RuleInput): boolean {
  const pod = exit.deletion.facts.first.value;
  return pod.spec.nodeName !== undefined && !isFinished(pod) && exit.deletion.grace > 0;
}

function nodeSilent(input: RuleInput): FindingDraft[] {
  const { trace, exit } = input;
  if (!hasKubelet(input)) return [];
  const { accepted, facts } = exit.deletion;
  const first = firstSign(input);
  const listened = listenedUntil(input);
  const until = Math.min(
    listened,
    first?.at ?? (trace.gone ? deliverableSince(trace, 'pod', trace.gone.at) : trace.now),
  );
  const silent = until - accepted.client.hi;
  const notReady = markOf(input, 'node-not-ready');
  const meanwhile = notReady !== undefined && (first === undefined || notReady.at.latest <= first.at + 1);
  if (silent < silence && !meanwhile) return [];
  const node = facts.first.value.spec.nodeName ?? 'the node';
  const isExact = first && !first.isOld && first.at <= listened;
  const length = `${isExact ? '' : 'at least '}${secondsText(Math.max(0, silent))}`;
  const clause =
    listened === -Infinity
      ? `${node} was NotReady`
      : `the kubelet on ${node} did not respond for ${length}${meanwhile ? ` (${node} was NotReady)` : ''}`;
  return [
    {
      code: 'node-silent',
      severity: 'warning',
      message: listened === -Infinity ? `${clause}, and kubelet activity was not observable` : clause,
      clause,
      why: `the grace period counts only from when the kubelet acts`,
      advice: `Look at the kubelet and the network of ${node}.${trace.gone ? '' : ' The pod stays Terminating until the node returns or is tainted out-of-service.'}`,
      cost: Math.max(0, silent),
      evidence: [facts.seenSeq, ...(first?.seq === undefined ? [] : [first.seq]), ...(notReady?.at.evidence ?? [])],
    },
  ];
}

/**
 * Until when (client ms) silence means something: an Event could be read, or the status shows whether the kubelet knows of the
 * deletion (SIGNALS.md §2 S3). -Infinity: never.
 */
function listenedUntil({ trace, exit }: RuleInput): number {
  const until = (stream: StreamName): number =>
    Math.min(
      ...trace.gaps.map(({ value }) => (value.stream === stream && value.to === undefined ? value.from : Infinity)),
    );
  const isTold = exit.deletion.facts.first.value.status.observedGeneration !== undefined;
  return Math.max(killingsUnwritten(trace) ? -Infinity : until('events'), isTold ? until('pod') : -Infinity);
}

/** `at`: client ms. `isOld`: it was there at the first look, and is no older than that. */
interface Sign {
  readonly at: number;
  /** Absent for a renewal of the Lease: those are not listed one by one. */
  readonly seq?: number;
  readonly isOld?: boolean;
}

/**
 * What the kubelet was first seen to do after the deletion, by its arrival, or when it could have arrived had no stream been
 * cut; what a late first look found, by the earliest that it can have been. Where no Event can tell (a namespace that ends
 * takes none) the application and its probes do.
 */
function firstSign(input: RuleInput): Sign | undefined {
  const { trace, exit } = input;
  const heard = (stream: StreamName) => (fact: { at: number; seq: number }) => ({
    at: deliverableSince(trace, stream, fact.at),
    seq: fact.seq,
  });
  const signs: Sign[] = [
    ...[...exit.kubelet.killings].flatMap(([name, killings]) => killingSigns(input, name, killings)),
    ...(trace.acknowledged ? [asOld(input, heard('pod')(trace.acknowledged))] : []),
    ...(trace.terminal ? [trace.terminal].map(heard('pod')) : []),
    ...renewalsSince(input),
    ...signsOfLife(input).filter(({ seenAt }) => seenAt >= exit.deletion.facts.seenAt),
  ];
  return signs.sort((a, b) => a.at - b.at)[0];
}

/**
 * The kubelet renews its node's Lease every 10 s whatever its pods do: it lives, and something else keeps it from this pod
 * (SIGNALS.md §2 S2). What came just after the deletion may have been written before.
 */
const renewalsSince = ({ trace, exit }: RuleInput): Sign[] =>
  trace.nodeSigns.renewals
    .filter(({ at }) => at > exit.deletion.accepted.client.hi + millisecondsOf('delivery-lag'))
    .map(({ at }) => ({ at }));

/** An Event that a first look lists was there before it: its own stamp shows since when. */
function killingSigns({ trace, exit }: RuleInput, name: string, killings: readonly Occurrence[]): Sign[] {
  const since = exit.containers.find(({ spec }) => spec.name === name)?.stopping?.client.lo ?? -Infinity;
  // A run that attaches may see the deletion before its first list of the Events.
  const cameLate = exit.deletion.facts.underWay || trace.began?.value.mode === 'attach';
  return killings.map(({ at, seq, isOld }) => {
    const deliverable = deliverableSince(trace, 'events', at);
    return isOld && cameLate ? { at: Math.min(deliverable, since), seq, isOld } : { at: deliverable, seq };
  });
}

/** A status of the first look may be as old as the deletion. */
function asOld({ exit }: RuleInput, sign: Sign): Sign {
  const { underWay, seenSeq } = exit.deletion.facts;
  return underWay && sign.seq === seenSeq ? { ...sign, at: exit.deletion.accepted.client.lo, isOld: true } : sign;
}

/**
 * The application got its signal, or lost its readiness: the kubelet sent it, or probed it. A log also ends with the node.
 * A log that was opened late begins with lines that were written before.
 */
const signsOfLife = ({ trace, exit }: RuleInput): (Sign & { seenAt: number })[] =>
  [...trace.containers.values()].flatMap(({ log, readyLost }) => [
    ...log.signalLines.map(({ value, at, seq }) => {
      if (!exit.deletion.facts.underWay) return { at, seq, seenAt: at };
      const written = exit.stage.toClient('node', { lo: value, hi: value }, at + 1);
      return { at: Math.min(at, written.lo), seq, seenAt: at, isOld: true };
    }),
    ...(readyLost ? [{ ...readyLost, seenAt: readyLost.at }] : []),
  ]);

function slowStart(input: RuleInput): FindingDraft[] {
  const { exit, trace } = input;
  const first = exit.kubelet.noticed;
  const stopped = exit.containers.some((container) => container.stopping);
  if (!first || !stopped || !hasKubelet(input)) return [];
  const delay = between(exit.deletion.accepted, first);
  if (delay.lo < 3 * second) return [];
  // That the kubelet had just started, and may have known before, can still be on its way.
  const isHeardOut =
    trace.gone !== undefined || trace.lastReceivedAt >= first.client.hi + millisecondsOf('delivery-lag');
  if (!isHeardOut) return [];
  const restart = restartUnderWay(input);
  const why = restart
    ? `it was restarting ${restart.about.container ?? 'a container'}, whose probe had failed`
    : 'an image pull, a postStart hook or a busy kubelet may have held it';
  const length = markedLength(input, delay);
  return [
    {
      code: 'slow-start',
      severity: 'info',
      message: `the kubelet started termination ${lengthText(length)} after the deletion`,
      clause: `the kubelet started termination after ${lengthText(length)}`,
      why,
      advice: 'Look at the Events of the pod and at the load of its kubelet.',
      cost: length.shown,
      evidence: [
        ...new Set([...exit.deletion.accepted.evidence, ...first.evidence, ...(restart ? [restart.seq] : [])]),
      ],
    },
  ];
}

/** As the schedule of the timeline has it. */
function markedLength(input: RuleInput, { lo, hi }: Span): { min: number; max: number; shown: number } {
  const [from, to] = [markOf(input, 'accepted')?.at.shown, markOf(input, 'acknowledged')?.at.shown];
  const shown = from === undefined || to === undefined ? lo : to - from;
  return { min: lo, max: hi, shown: Math.min(Math.max(shown, lo), hi) };
}

/** A container whose probe fails is stopped with the pod's grace, and the pod's worker does nothing else meanwhile. */
function restartUnderWay({ trace, exit }: RuleInput): Occurrence | undefined {
  const { facts, grace } = exit.deletion;
  const isUnderWay = ({ reason, message, time, seq }: Occurrence): boolean =>
    reason === 'Killing' &&
    / failed (?:liveness|startup) probe, /.test(message) &&
    seq < facts.seenSeq &&
    time.hi + grace * second >= requestedAt(trace);
  return trace.events.findLast(isUnderWay);
}

/** Its grace counts again from the second Killing (SIGNALS.md §2 "Kubelet restart", trap 36). */
function kubeletRestarted(input: RuleInput): FindingDraft[] {
  const { exit } = input;
  const found = exit.containers.flatMap((container) => restartOf(input, container));
  const [earliest] = found.sort((a, b) => a.first.time.lo - b.first.time.lo);
  if (!earliest) return [];
  const { name, first, started, last } = earliest;
  return [
    {
      code: 'kubelet-restarted',
      severity: 'warning',
      container: name,
      message: `the kubelet restarted and began to stop ${name} again ${secondsText(last.time.lo - first.time.lo)} after the first time: the grace period restarts`,
      clause: 'the kubelet restarted, and the grace period with it',
      advice: 'Find out why the kubelet restarted. Logs followed through it end early, and preStop hooks run twice.',
      cost: last.time.lo - first.time.lo,
      evidence: [first.seq, started.seq, last.seq],
    },
  ];
}

interface Restart {
  name: string;
  first: Occurrence;
  started: Occurrence;
  last: Occurrence;
}

/** It began twice with this container, and said in between that it had started; all by its own clock. */
function restartOf({ trace }: RuleInput, { spec, killings }: ContainerExit): Restart[] {
  const [first] = killings;
  const last = killings.at(-1);
  if (!first || !last || first === last) return [];
  const started = trace.events.find(
    (event) => isStart(event) && event.time.lo >= first.time.lo && event.time.hi <= last.time.hi,
  );
  return started ? [{ name: spec.name, first, started, last }] : [];
}

/** A second, shorter DELETE changes the API, not a running kill (SIGNALS.md trap 3). */
function graceShortenedIgnored(input: RuleInput): FindingDraft[] {
  const { trace, exit } = input;
  const lowered = trace.graces.find(
    (one) => one.value.grace < exit.deletion.grace && one.seq !== trace.finalDelete?.seq,
  );
  const old = exit.deletion.grace;
  if (!lowered) return [];
  const kept = mainExitsOf(input).find(
    (one) =>
      one.outcome === 'killed' &&
      one.stopping &&
      one.exit &&
      lowered.at < one.exit.at.client.lo &&
      between(one.stopping, one.exit.at).lo >= (old - 1) * second,
  );
  if (!kept?.stopping || !kept.kill) return [];
  return [
    {
      code: 'grace-shortened-ignored',
      severity: 'warning',
      container: kept.spec.name,
      message: `a second DELETE asked for ${lowered.value.grace}s instead of ${old}s, but ${kept.spec.name} was SIGKILLed only ${lengthText(spanLength(between(kept.stopping, kept.kill)))} after the kubelet started`,
      clause: `a second DELETE with ${lowered.value.grace}s did not shorten it`,
      advice: 'A second DELETE rarely shortens a kill in progress: ask for the short grace period in the first one.',
      evidence: [...new Set([lowered.seq, ...kept.stopping.evidence, ...kept.kill.evidence])],
    },
  ];
}

const spanLength = ({ lo, hi }: Span): { min: number; max: number; shown: number } => ({
  min: lo,
  max: hi,
  shown: (lo + hi) / 2,
});

/** The kubelet could not stop the pod, waits, and begins again with a whole grace period (SIGNALS.md §2 S11). */
function runtimeUnavailable({ trace, exit }: RuleInput): FindingDraft[] {
  const since = exit.deletion.accepted.client.lo;
  const failures = trace.events.filter(({ reason, at, isOld }) => reason === 'FailedKillPod' && at >= since && !isOld);
  const [first] = failures;
  if (!first) return [];
  const count = failures.reduce((sum, one) => Math.max(sum, one.count), failures.length);
  const again = [...exit.kubelet.killings.values()].flatMap((all) => all.slice(1))[0];
  const times = count > 1 ? `, ${count} times` : '';
  return [
    {
      code: 'runtime-unavailable',
      severity: 'warning',
      message: `the kubelet could not stop the pod (FailedKillPod${times})${again ? ` and tried again ${secondsText(again.at - first.at)} later, with a whole grace period` : ''}: the container runtime did not answer`,
      clause: `the container runtime was unavailable (FailedKillPod${times})`,
      why: again
        ? `the kubelet tried again ${secondsText(again.at - first.at)} after its first try, with a whole grace period`
        : undefined,
      advice:
        'Look at the container runtime on the node (journalctl -u containerd, or your runtime); nothing in the pod caused this.',
      cost: again ? again.at - first.at : undefined,
      evidence: [...failures.map(({ seq }) => seq), ...(again ? [again.seq] : [])],
    },
  ];
}
