/** Findings about the kubelet and its node. */
import { millisecondsOf } from '../../model/assumptions.ts';
import { deliverableSince } from '../../infer/arrival.ts';
import type { ContainerTimeline } from '../../infer/timeline.ts';
import { deletionRequestedAt } from '../../infer/workload-changes.ts';
import { reportedExit } from '../../infer/context.ts';
import { killingsUnwritten } from '../../infer/gaps.ts';
import { lengthBetween } from '../../infer/schedule.ts';
import { isKubeletStart } from '../../infer/stop.ts';
import { isFinished, statusesOf } from '../../model/pod.ts';
import { second } from '../../model/span.ts';
import { lostSince, mayMiss, type Fact, type Occurrence, type Trace } from '../../model/trace.ts';
import type { Rules } from '../finding.ts';
import { lengthText, secondsText } from '../length-text.ts';
import { containerInPostStart } from '../ledger.ts';
import { mainContainers, markOf, ranContainers, type RuleInput } from '../rule-input.ts';

export const nodeRules: Rules = {
  'node-silent': (input) => {
    const { trace, timeline, deletion } = input;
    if (!involvesKubelet(input)) return undefined;
    const { accepted, facts } = deletion;
    const first = firstSign(input);
    const watched = silenceCountsUntil(input);
    const end = trace.gone ? deliverableSince(trace, 'pod', trace.gone.at) : trace.now;
    const silentMs = Math.min(watched, first?.at ?? end) - accepted.client.hi;
    const notReady = markOf(timeline, 'node-not-ready')?.at;
    const wasNotReady = notReady !== undefined && (first === undefined || notReady.latest <= first.at + 1);
    const isStarting = mayBeStarting(input) || containerInPostStart(input) !== undefined;
    if ((silentMs < minSilenceMs || isStarting) && !wasNotReady) return undefined;
    const node = timeline.pod.spec.nodeName ?? 'the node';
    const isExact = first && !first.isOld && first.at <= watched;
    const length = `${isExact ? '' : 'at least '}${secondsText(Math.max(0, silentMs))}`;
    const clause =
      watched === -Infinity
        ? `${node} was NotReady`
        : `the kubelet on ${node} did not respond for ${length}${wasNotReady ? ` (${node} was NotReady)` : ''}`;
    return {
      message: watched === -Infinity ? `${clause}, and kubelet activity was not observable` : clause,
      clause,
      why: 'the grace period counts only from when the kubelet acts',
      advice: `Look at the kubelet and the network of ${node}.${trace.gone ? '' : ' The pod stays Terminating until the node returns or is tainted out-of-service.'}`,
      delayMs: Math.max(0, silentMs),
      evidence: [facts.seenSeq, first?.seq, notReady?.evidence],
    };
  },

  'slow-start': (input) => {
    const { trace, timeline } = input;
    const [accepted, first] = [markOf(timeline, 'accepted')?.at, markOf(timeline, 'acknowledged')?.at];
    const stopped = timeline.containers.some((container) => container.stopping);
    if (!accepted || !first || !stopped || !involvesKubelet(input)) return undefined;
    const delay = lengthBetween(accepted, first);
    if (delay.min < 3 * second) return undefined;
    // An Event of a kubelet restart may still be on its way: then the kubelet may have known of the deletion earlier.
    const isComplete =
      trace.gone !== undefined || trace.lastReceivedAt >= first.latest + millisecondsOf('delivery-lag');
    if (!isComplete) return undefined;
    const restart = probeRestart(input);
    const starting = containerInPostStart(input);
    const length = lengthText({ ...delay, basis: 'inferred' });
    return {
      severity: 'info',
      message: `the kubelet started termination ${length} after the deletion`,
      clause: `the kubelet started termination after ${length}`,
      why: restart
        ? `it was restarting ${restart.about.container ?? 'a container'}, whose probe had failed`
        : starting === undefined
          ? 'an image pull, a postStart hook or a busy kubelet may be the cause'
          : `the postStart hook of ${starting} still ran, and the kubelet waits for it`,
      advice: 'Look at the Events of the pod and at the load of its kubelet.',
      delayMs: delay.shown,
      evidence: [accepted.evidence, first.evidence, restart?.seq],
    };
  },

  /** The grace period starts again with the second Killing Event (SIGNALS.md §2 "Kubelet restart", trap 36). */
  'kubelet-restarted': ({ trace, timeline }) => {
    const found = timeline.containers.flatMap((container) => restartOf(trace, container));
    const [earliest] = found.sort((a, b) => a.first.time.lo - b.first.time.lo);
    if (!earliest) return undefined;
    const { name, first, started, last } = earliest;
    const delayMs = last.time.lo - first.time.lo;
    return {
      container: name,
      message: `the kubelet restarted and started termination of ${name} again, ${secondsText(delayMs)} after the first time: the grace period restarted`,
      clause: 'the kubelet restarted, and the grace period with it',
      advice: 'Find out why the kubelet restarted. Logs followed through it end early, and preStop hooks run twice.',
      delayMs,
      evidence: [first.seq, started.seq, last.seq],
    };
  },

  /**
   * The kubelet fails to stop the pod, waits, and starts again with a full grace period (SIGNALS.md §2 S11). A stop call also
   * fails if its container exits at that moment: then the kubelet soon sees that nothing is left to stop, and all is well.
   */
  'runtime-unavailable': ({ trace, timeline, deletion }) => {
    const since = deletion.accepted.client.lo;
    const failures = trace.events.filter(
      ({ reason, at, isOld }) => reason === 'FailedKillPod' && at >= since && !isOld,
    );
    const [first] = failures;
    if (!first) return undefined;
    const count = Math.max(failures.length, ...failures.map((failure) => failure.count));
    const times = count > 1 ? `, ${count} times` : '';
    const again = timeline.containers.flatMap(({ killings }) => killings.slice(1)).sort((a, b) => a.seq - b.seq)[0];
    const isReported = ranContainers(timeline).every(reportedExit);
    if (!again && isReported && trace.gone && trace.gone.at - first.at < minRetryDelayMs) return undefined;
    const later = again && secondsText(again.at - first.at);
    // Any other error may come from a runtime that is well: a network plugin, or a process that does not die.
    const isSilent = failures.some(({ message }) => /code = (Unavailable|DeadlineExceeded)/.test(message));
    return {
      message: `the kubelet could not stop the pod (FailedKillPod${times})${again ? ` and tried again ${later} later, with a full grace period` : ''}: the container runtime ${isSilent ? 'did not answer' : 'reported an error'}`,
      clause: `the container runtime ${isSilent ? 'was unavailable' : 'reported an error'} (FailedKillPod${times})`,
      why: again && `the kubelet tried again ${later} after its first try, with a full grace period`,
      advice:
        'Look at the container runtime on the node (journalctl -u containerd, or your runtime) and at the message of the Event.',
      delayMs: again && again.at - first.at,
      evidence: [failures.map(({ seq }) => seq), again?.seq],
    };
  },

  /** A second, shorter DELETE changes the API, not a running kill (SIGNALS.md trap 3). */
  'grace-shortened-ignored': ({ trace, timeline, deletion }) => {
    const old = deletion.grace;
    const lowered = trace.graces.find(({ value, seq }) => value.grace < old && seq !== trace.finalDelete?.seq);
    if (!lowered) return undefined;
    const unaffected = mainContainers(timeline).find(
      ({ outcome, stopping, exit: end }) =>
        outcome === 'killed' &&
        stopping &&
        end &&
        lowered.at < end.at.estimate.client.lo &&
        lengthBetween(stopping, end.at).min >= (old - 1) * second,
    );
    if (!unaffected?.stopping || !unaffected.kill) return undefined;
    const { min, max } = lengthBetween(unaffected.stopping, unaffected.kill);
    const length = lengthText({ min, max, shown: (min + max) / 2 });
    return {
      container: unaffected.name,
      message: `a second DELETE asked for ${lowered.value.grace}s instead of ${old}s, but ${unaffected.name} was not SIGKILLed until ${length} after the kubelet started termination`,
      clause: `a second DELETE with ${lowered.value.grace}s did not shorten it`,
      advice: 'A second DELETE rarely shortens a kill in progress: ask for the short grace period in the first one.',
      evidence: [lowered.seq, unaffected.stopping.evidence, unaffected.kill.evidence],
    };
  },
};

/** No kubelet takes part in the end of an unscheduled or finished pod (SIGNALS.md trap 5). */
function involvesKubelet({ deletion: { pod, grace } }: RuleInput): boolean {
  return pod.spec.nodeName !== undefined && !isFinished(pod) && grace > 0;
}

const minSilenceMs = 10 * second;

/**
 * Whether the kubelet may have been starting a container of the pod, so that it could do nothing else for it (SIGNALS.md §2
 * S2), and no Lease shows whether it was alive.
 */
function mayBeStarting({ trace, deletion: { pod, accepted } }: RuleInput): boolean {
  const isStarting = statusesOf(pod).some(({ state }) => state.waiting && state.waiting.reason !== 'CrashLoopBackOff');
  const isLeaseWatched =
    trace.nodeSigns.listedRenewal !== undefined && !mayMiss(trace, 'lease', { lo: accepted.client.lo, hi: Infinity });
  return isStarting && !isLeaseWatched;
}

/**
 * Client ms until which silence of the kubelet means something: its Events could be read, or the status shows whether it
 * knows of the deletion (SIGNALS.md §2 S3). -Infinity: never.
 */
function silenceCountsUntil({ trace, deletion }: RuleInput): number {
  const hasGeneration = deletion.pod.status.observedGeneration !== undefined;
  return Math.max(
    killingsUnwritten(trace) ? -Infinity : lostSince(trace, 'events'),
    hasGeneration ? lostSince(trace, 'pod') : -Infinity,
  );
}

/** A sign of the kubelet. `at`: client ms; if `isOld` (there at the first look), the earliest possible time. */
interface Sign {
  readonly at: number;
  /** Absent for a renewal of the Lease: the observations do not list each of them. */
  readonly seq?: number;
  readonly isOld?: boolean;
}

/**
 * The first sign of the kubelet after the deletion. Its time is its arrival, or when it would have arrived if no stream had
 * been cut; if a late first look found it, the earliest possible time. The application and its probes give signs too: a
 * terminating namespace accepts no Events.
 */
function firstSign(input: RuleInput): Sign | undefined {
  const { trace, timeline, deletion } = input;
  const { accepted, facts } = deletion;
  const ofPod = ({ at, seq }: Fact<unknown>): Sign =>
    // A status found by the first look may be as old as the deletion.
    facts.underWay && seq === facts.seenSeq
      ? { at: accepted.client.lo, seq, isOld: true }
      : { at: deliverableSince(trace, 'pod', at), seq };
  const signs: Sign[] = [
    ...timeline.containers.flatMap((container) => killingSigns(input, container)),
    ...[trace.acknowledged, trace.terminal].flatMap((status) => (status ? ofPod(status) : [])),
    // The kubelet renews its node's Lease every 10 s, whatever its pods do. A renewal shows that it runs, and that something
    // else delays its work on this pod (SIGNALS.md §2 S2). One that arrives just after the deletion may be older.
    ...trace.nodeSigns.renewals
      .filter(({ at }) => at > accepted.client.hi + millisecondsOf('delivery-lag'))
      .map(({ at }) => ({ at })),
    ...applicationSigns(input),
  ];
  return signs.sort((a, b) => a.at - b.at)[0];
}

/** An Event in the first list is older than that list: its own timestamp shows how old. */
function killingSigns({ trace, deletion }: RuleInput, { killings, stopping }: ContainerTimeline): Sign[] {
  const since = stopping?.estimate.client.lo ?? -Infinity;
  // A run that attaches may see the deletion before its first list of the Events.
  const cameLate = deletion.facts.underWay || trace.began?.value.mode === 'attach';
  return killings.map(({ at, seq, isOld }) => {
    const deliverable = deliverableSince(trace, 'events', at);
    return isOld && cameLate ? { at: Math.min(deliverable, since), seq, isOld } : { at: deliverable, seq };
  });
}

/**
 * The application logged its signal, or lost its readiness: the kubelet sent the signal, or ran the probe. The end of a log
 * is no sign: a log also ends with its node. A log that was opened late begins with lines that were written earlier.
 */
function applicationSigns({ trace, deletion, network }: RuleInput): Sign[] {
  const { underWay, seenAt } = deletion.facts;
  const written = (line: Fact<number>): Sign => {
    const { lo } = network.toClient('node', { lo: line.value, hi: line.value });
    return { at: Math.min(line.at, lo), seq: line.seq, isOld: true };
  };
  return [...trace.containers.values()].flatMap(({ log, readyLost }) => [
    ...log.signalLines.filter(({ at }) => at >= seenAt).map((line) => (underWay ? written(line) : line)),
    ...(readyLost && readyLost.at >= seenAt ? [readyLost] : []),
  ]);
}

/** A restart after a failed probe: until that container is stopped, the kubelet's worker for the pod does nothing else. */
function probeRestart({ trace, deletion: { facts, grace } }: RuleInput): Occurrence | undefined {
  const isUnderWay = ({ reason, message, time, seq }: Occurrence): boolean =>
    reason === 'Killing' &&
    / failed (?:liveness|startup) probe, /.test(message) &&
    seq < facts.seenSeq &&
    time.hi + grace * second >= deletionRequestedAt(trace);
  return trace.events.findLast(isUnderWay);
}

/** The kubelet began twice to stop this container, and reported its own start in between, all by the node's clock. */
function restartOf({ events }: Trace, { name, killings }: ContainerTimeline) {
  const [first, last] = [killings[0], killings.at(-1)];
  if (!first || !last || first === last) return [];
  const started = events.find(
    (event) => isKubeletStart(event) && event.time.lo >= first.time.lo && event.time.hi <= last.time.hi,
  );
  return started ? [{ name, first, started, last }] : [];
}

/** Less than any pause of the kubelet after a failure (SIGNALS.md §2 S11). */
const minRetryDelayMs = 5 * second;
