/** Findings about the kubelet and its node. */
import { millisecondsOf } from '../../model/assumptions.ts';
import { deliverableSince, killingsUnwritten } from '../../infer/arrival.ts';
import type { Interval } from '../../infer/timeline.ts';
import type { MarkName } from '../../model/report.ts';
import { reportedExit } from '../../infer/context.ts';
import { lengthBetween } from '../../infer/schedule.ts';
import { isFinished, statusesOf } from '../../model/pod.ts';
import { second } from '../../model/span.ts';
import { lostSince, mayMiss } from '../../model/trace.ts';
import { waitWithin } from '../api-silence.ts';
import type { Rules } from '../finding.ts';
import { lengthText, secondsText } from '../words.ts';
import { containerInPostStart } from '../ledger.ts';
import { mainContainers, markOf, ranContainers, type RuleInput } from '../rule-input.ts';

export const nodeRules: Rules = {
  'node-silent': (input) => {
    const { trace, timeline, deletion } = input;
    const accepted = markOf(timeline, 'accepted')?.at;
    if (!accepted || !involvesKubelet(input)) return undefined;
    const first = markOf(timeline, 'acknowledged')?.at;
    const watched = silenceCountsUntil(input);
    // A sign of life may still be on its way.
    const end = trace.gone ? deliverableSince(trace, 'pod', trace.gone.at) : trace.now - millisecondsOf('delivery-lag');
    const until = Math.min(watched, first ? noticedBy(input, accepted.latest, first) : end, aliveAt(input));
    // The API server has to answer before we see the kubelet.
    const silentMs = until - accepted.latest - (waitWithin(input, { lo: accepted.latest, hi: until })?.ms ?? 0);
    const notReady = markOf(timeline, 'node-not-ready')?.at;
    const wasNotReady = notReady !== undefined && (first === undefined || notReady.latest <= first.latest);
    if ((silentMs < 10 * second || mayBeStarting(input)) && !wasNotReady) return undefined;
    const node = timeline.pod.spec.nodeName ?? 'the node';
    const length = `${first && until === first.latest ? '' : 'at least '}${secondsText(Math.max(0, silentMs))}`;
    const clause =
      watched === -Infinity
        ? `${node} was NotReady`
        : `the kubelet on ${node} did not respond for ${length}${wasNotReady ? ` (${node} was NotReady)` : ''}`;
    return {
      message: watched === -Infinity ? `${clause}, and kubelet activity was not observable` : clause,
      clause,
      why: 'the grace period counts only from when the kubelet acts',
      advice: `Look at the kubelet and the network of ${node}.${trace.gone ? '' : ' The pod stays Terminating until the node returns, is tainted out-of-service or its Node object is deleted: then pod garbage collection removes it.'}`,
      delayMs: Math.max(0, silentMs),
      evidence: [deletion.facts.seenSeq, first?.evidence, notReady?.evidence],
    };
  },

  'slow-start': (input) => {
    const { trace, timeline } = input;
    const [accepted, first] = [markOf(timeline, 'accepted')?.at, markOf(timeline, 'acknowledged')?.at];
    const stopped = timeline.containers.some((container) => container.stopping);
    if (!accepted || !first || !stopped || !involvesKubelet(input)) return undefined;
    const delay = lengthBetween(accepted, first);
    const waited = waitWithin(input, { lo: accepted.earliest, hi: first.latest })?.ms ?? 0;
    if (delay.min - waited < 3 * second) return undefined;
    // An Event of a kubelet restart may still be on its way: then the kubelet may have known of the deletion earlier.
    const isComplete =
      trace.gone !== undefined || trace.lastReceivedAt >= first.latest + millisecondsOf('delivery-lag');
    if (!isComplete) return undefined;
    const starting = containerInPostStart(input);
    const waits = statusesOf(input.deletion.pod).some(({ state }) => state.waiting);
    const length = lengthText({ ...delay, basis: 'inferred' });
    const hook = starting && `the postStart hook of ${starting}`;
    return {
      clause: hook ? `the kubelet waited ${length} for ${hook}` : `the kubelet started termination after ${length}`,
      why: hook ? undefined : `${waits ? 'an image pull or ' : ''}a busy kubelet or container runtime may be the cause`,
      advice: hook
        ? `Shorten ${hook}: the kubelet stops nothing before it is over.`
        : 'Look at the Events of the pod and at the load of its kubelet.',
      severity: hook ? 'warning' : 'info',
      message: `the kubelet started termination ${length} after the deletion`,
      delayMs: delay.shown,
      evidence: [accepted.evidence, first.evidence],
    };
  },

  /** The grace period starts again with the second Killing Event (SIGNALS.md §2 "Kubelet restart", trap 36). */
  'kubelet-restarted': ({ timeline }) => {
    const started = markOf(timeline, 'kubelet-started')?.at.estimate;
    if (!started) return undefined;
    const again = timeline.containers.find(({ killings }) => killings.some(({ time }) => time.hi >= started.node.lo));
    const [first, last] = again && again.killings.length > 1 ? [again.killings[0], again.killings.at(-1)] : [];
    const isOpen = first !== undefined && again?.outcome !== 'killed';
    return {
      container: first && again?.name,
      clause: `the kubelet restarted${first ? ' and began the grace period again' : ' meanwhile'}`,
      why: isOpen ? `unknown whether ${again?.name} reacted to its first or its second stop` : undefined,
      advice: `Look up why the kubelet restarted: journalctl -u kubelet on ${timeline.pod.spec.nodeName}.`,
      delayMs: first && last && last.time.lo - first.time.lo,
      evidence: [first?.seq, started.evidence, last?.seq],
    };
  },

  /** SIGNALS.md §2 S11. A stop call also fails if its container exits at that moment: then all is well soon. */
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
    if (!again && isReported && trace.gone && trace.gone.at - first.at < 5 * second) return undefined;
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

  /** Kubelet and controllers waited for the API server too: a step took this long although streams show it only later. */
  'api-server-silent': (input) => {
    const { trace, timeline } = input;
    const at = (name: MarkName): Interval | undefined => markOf(timeline, name)?.at;
    const exits = ranContainers(timeline).flatMap(({ exit }) => exit?.at ?? []);
    const [done, removed] = [at('containers-done'), at('removed')];
    const steps = [
      [at('accepted'), at('acknowledged')],
      [exits.sort((a, b) => b.latest - a.latest)[0], done],
      // If no status reported the exits, the silence is why.
      done ? [done, removed] : [at('accepted'), removed && { ...removed, earliest: removed.latest }],
    ].map(([from, to]) => ({ lo: from?.latest ?? Infinity, hi: to?.earliest ?? -Infinity }));
    const [longest] = steps.flatMap((step) => waitWithin(input, step) ?? []).sort((a, b) => b.ms - a.ms);
    if (!longest || longest.ms < 2 * second) return undefined;
    const delayMs = longest.hi - longest.lo;
    const clause = `the API server${longest.isOfStorage ? "'s storage (etcd)" : ''} did not answer for up to ${secondsText(delayMs)}`;
    return {
      message: longest.isOfStorage ? clause : `${clause}: it stood still, or could not be reached from here`,
      clause,
      advice: 'Look at the API server, at etcd and at the connection to them.',
      delayMs,
      evidence: trace.gaps.map(({ seq }) => seq),
    };
  },

  /** A second, shorter DELETE changes the API, not a running kill (SIGNALS.md trap 3). */
  'grace-shortened-ignored': ({ trace, timeline, deletion }) => {
    const old = deletion.grace;
    const lowered = trace.graces.find(({ value, seq }) => value.grace < old && seq !== trace.finalDelete?.seq);
    const unaffected = mainContainers(timeline).find(
      ({ outcome, exit: end }) => outcome === 'killed' && end && (lowered?.at ?? Infinity) < end.at.estimate.client.lo,
    );
    if (!lowered || !unaffected || timeline.grace.counted.min < old) return undefined;
    // The API server stores 1 for whatever would have ended in the past (SIGNALS.md §1 "Repeat delete").
    const asked = lowered.value.grace === 1 ? `less than ${old}s` : `${lowered.value.grace}s instead of ${old}s`;
    return {
      container: unaffected.name,
      message: `a second DELETE asked for ${asked}, but ${unaffected.name} was SIGKILLed only after those ${old}s`,
      clause: `a second DELETE that asked for ${asked} did not shorten it`,
      advice: 'A second DELETE rarely shortens a kill in progress: ask for the short grace period in the first one.',
      evidence: [lowered.seq, unaffected.stopping?.evidence, unaffected.kill?.evidence],
    };
  },
};

/** No kubelet takes part in the end of an unscheduled or finished pod (SIGNALS.md trap 5). */
const involvesKubelet = ({ deletion: { pod, grace } }: RuleInput): boolean =>
  pod.spec.nodeName !== undefined && !isFinished(pod) && grace > 0;

/** Whether the kubelet may have been starting a container (SIGNALS.md §2 S2). */
const mayBeStarting = ({ deletion: { pod } }: RuleInput): boolean =>
  statusesOf(pod).some(({ state }) => state.waiting && state.waiting.reason !== 'CrashLoopBackOff');

/** Client ms until which silence of the kubelet means something (SIGNALS.md §2 S3). -Infinity: never. */
function silenceCountsUntil({ trace, deletion }: RuleInput): number {
  const hasGeneration = deletion.pod.status.observedGeneration !== undefined;
  return Math.max(
    killingsUnwritten(trace) ? -Infinity : lostSince(trace, 'events'),
    hasGeneration ? lostSince(trace, 'pod') : -Infinity,
  );
}

/** Client ms by which a sign of the kubelet had arrived; if no stream was open since `lo`, the earliest time that fits. */
function noticedBy({ trace, deletion }: RuleInput, lo: number, { earliest, latest: hi }: Interval): number {
  const isOpen = (stream: 'pod' | 'events'): boolean =>
    !mayMiss(trace, stream, { lo, hi }) && deliverableSince(trace, stream, hi) === hi;
  return (isOpen('pod') || isOpen('events')) && !deletion.facts.underWay ? hi : earliest;
}

/** Client ms of the first Lease renewal after the deletion: every 10 s (SIGNALS.md §2 S2). Early ones may be older. */
function aliveAt({ trace, deletion }: RuleInput): number {
  const since = deletion.accepted.client.hi + millisecondsOf('delivery-lag');
  return Math.min(...trace.nodeSigns.renewals.map(({ at }) => (at > since ? at : Infinity)));
}
