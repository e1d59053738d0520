/** Findings about the deletion itself: who asked for it, force, and what came after the containers. */
import { deliverableSince } from '../../infer/arrival.ts';
import { reportedExit } from '../../infer/context.ts';
import { controllerOf, isMirror, isTracked } from '../../model/pod.ts';
import { second } from '../../model/span.ts';
import { mayMiss } from '../../model/trace.ts';
import { waitWithin } from '../api-silence.ts';
import type { Found, Rules } from '../finding.ts';
import { lengthBetween } from '../../infer/schedule.ts';
import type { Interval, Length } from '../../infer/timeline.ts';
import { lengthText, secondsText, few, list, stillRan } from '../words.ts';
import { isCascade, mainContainers, markOf, ranContainers, signalName, type RuleInput } from '../rule-input.ts';
import { admissionMs } from '../ledger.ts';

export const removalRules: Rules = {
  'finalizer-held': (input) => {
    const { trace, timeline, deletion } = input;
    const { gone, finalizing, terminal } = trace;
    const [done, finalDelete] = [markOf(timeline, 'containers-done'), markOf(timeline, 'final-delete')];
    if (!markOf(timeline, 'finalizing') || !finalizing) return undefined;
    // Both arrive on the same stream, so the difference of their arrivals is the best figure.
    const ended = done ? terminal?.at : undefined;
    const from =
      ended === undefined ? Math.min(finalizing.at, deletion.accepted.client.hi) : Math.max(finalizing.at, ended);
    const until = gone ? deliverableSince(trace, 'pod', gone.at) : trace.now;
    const held = until - from;
    if (held < second) return undefined;
    // If a first look or a list after a gap found one of the ends, the pod may have been held longer.
    const isExact = deliverableSince(trace, 'pod', from) === from && until === gone?.at && !deletion.facts.underWay;
    const finalizers = finalizing.value;
    const names = `finalizer${finalizers.length === 1 ? '' : 's'} ${list(finalizers)}`;
    const clause = `${names} ${gone ? '' : 'has '}held the pod for ${isExact ? '' : 'at least '}${secondsText(held)}`;
    const after = finalDelete || done ? ' after its containers had ended' : '';
    return {
      message: `${clause}${after}${gone ? '' : ' and still does'}`,
      clause,
      advice: `The controller that sets ${list(finalizers)} has to remove it; look at its logs.`,
      delayMs: held,
      evidence: [finalizing.seq, gone?.seq],
    };
  },

  /** Both steps of the kubelet after the exits: its last status, and its last DELETE (SIGNALS.md §2 S10 to S15). */
  'slow-cleanup': (input) => {
    const found = [lateStatus(input), slowRemoval(input)].flatMap((one) => one ?? []);
    return found.sort((a, b) => (b.delayMs ?? 0) - (a.delayMs ?? 0))[0];
  },

  'force-deleted': (input) => {
    const { timeline, deletion } = input;
    const removed = markOf(timeline, 'removed')?.at;
    const abandoned = ranContainers(timeline).filter(({ outcome }) => outcome === 'abandoned');
    if (!removed) return undefined;
    // The kubelet runs a static pod from a file on its node, and removes the copy with the file (SIGNALS.md trap 30).
    if (isMirror(deletion.pod))
      return {
        severity: 'info',
        message:
          'the API copy of a static pod was deleted: its containers keep running unless its manifest was removed',
        clause: 'only the API copy of a static pod was deleted',
        advice: 'To stop a static pod, remove its manifest from the node; else the kubelet makes a new copy.',
        evidence: removed.evidence,
      };
    if (abandoned.length === 0) return undefined;
    const ran = abandoned.flatMap(({ name, bounds, exit }) => {
      const logEnd = input.trace.containers.get(name)?.log.ended;
      // A log that ended before the removal shows nothing about the time after it.
      if (!bounds.exit || !logEnd || logEnd.at + 1 < removed.latest) return [];
      const after = (exit?.at.latest ?? logEnd.at + 1) - timeline.zero;
      return [`${name} probably ran until its log ended, at +${secondsText(Math.ceil(after / 10) * 10, 2)} or earlier`];
    });
    const ranOn = ran.length > 0 ? list(few(ran)) : undefined;
    const clause = `the pod was removed while ${stillRan(abandoned)}`;
    return {
      message: `${clause}: ${ranOn ?? `how long ${abandoned.length === 1 ? 'it' : 'they'} kept running is unknown`}`,
      clause,
      why: ranOn,
      advice: input.trace.requests.some(({ graceSeconds }) => graceSeconds === 0)
        ? 'Delete it without --force: a new pod with the same name or volume may run beside the old one. --force is only for a node that is gone for good.'
        : timeline.trigger.kind === 'pod-gc'
          ? 'Pod garbage collection removed it, as its Node object was deleted or is tainted out-of-service: drain a node before you remove it.'
          : 'Something else removed it with a grace period of 0: a person with --force, or pod garbage collection if its node is gone. kubectl podexit why POD --audit-log FILE names it.',
      evidence: [removed.evidence, abandoned.map(({ bounds }) => bounds.exit?.evidence)],
    };
  },

  'unmanaged-pod': ({ timeline, deletion }) => {
    const { pod } = timeline;
    if (controllerOf(pod) || isMirror(pod) || isCascade(timeline)) return undefined;
    return {
      severity: 'info',
      message: 'no controller owns this pod: nothing replaces it',
      clause: 'nothing replaces this pod',
      advice: 'Let a Deployment, StatefulSet, DaemonSet or Job own it.',
      evidence: deletion.facts.seenSeq,
    };
  },

  /**
   * A Job counts a pod by its phase once it has ended. One that somebody else deletes is counted as failed about a second
   * later, whatever it still does (job_controller.go, isPodFailed), unless the Job has a podFailurePolicy or
   * podReplacementPolicy Failed. A Job that fails counts what runs as failed, and no other that it deletes; a deleted one none.
   */
  'job-counts-exit': ({ trace, timeline, deletion: { facts } }) => {
    const job = isCascade(timeline) ? undefined : controllerOf(timeline.pod);
    const mains = mainContainers(timeline);
    const signalled = mains.find(({ stopSignal }) => stopSignal);
    if (job?.kind !== 'Job' || !signalled || mains.some(({ exit }) => exit?.code === undefined)) return undefined;
    const evidence = [trace.terminal?.seq, mains.map(({ exit }) => exit?.at.evidence)];
    const said = (clause: string): Found => ({ severity: 'info', clause, evidence });
    const { ended, last } = trace.owners.get(job.uid) ?? {};
    const why = last?.value.status.conditions?.find(({ type }) => type === ended?.value)?.reason ?? ended?.value;
    const isFailing = /^Fail/.test(ended?.value ?? '');
    const counts = isFailing ? 'counts it as failed, whatever its exit code' : 'does not count its exit';
    if (timeline.trigger.kind === 'job') return said(`Job ${job.name} ended it${why ? ` (${why})` : ''} and ${counts}`);
    const isOpen = trace.terminal !== undefined && isTracked(trace.terminal.value);
    const wasCounted = trace.terminal !== undefined && !isOpen && isTracked(facts.first.value);
    if (wasCounted && !mayMiss(trace, 'pod', { lo: facts.first.at, hi: trace.terminal?.at ?? Infinity }))
      return said(`Job ${job.name} counted it as failed while it was still running: its exit code does not matter`);
    if (mains.some(({ exit }) => exit?.code !== 0))
      return said(`Job ${job.name} counts this as a failure, unless its podFailurePolicy ignores it`);
    if (!isOpen) return undefined;
    return {
      clause: `Job ${job.name} counts exit 0 as a success, whether or not its work was done`,
      advice: `Exit with another code if ${signalName(signalled)} ends the work, 143 for example: a Job repeats only what failed.`,
      evidence,
    };
  },

  /** A DELETE of a pod that is terminating is answered like any other (SIGNALS.md §1 "Repeat delete"). */
  'deleted-before': ({ deletion: { deletedByOther, facts, grace } }) => {
    if (!deletedByOther?.answer) return undefined;
    const { verb, graceSeconds } = deletedByOther;
    const wanted = graceSeconds === null || graceSeconds === grace ? '' : ` instead of the ${graceSeconds}s asked for`;
    return {
      message: `another client had deleted the pod before this command's ${verb === 'evict' ? 'eviction' : 'DELETE'}: its grace period was ${grace}s${wanted}`,
      clause: 'another client had deleted the pod before',
      advice: 'Find out who else deletes these pods, such as a controller, a drain or an autoscaler.',
      evidence: [deletedByOther.sent.seq, deletedByOther.answer.seq, facts.seenSeq],
    };
  },
};

const maxCleanupMs = 5 * second;

/** The length of a step that took too long, also without what the API server may have taken of it. */
function slowStep(input: RuleInput, from?: Interval, to?: Interval): Length | undefined {
  if (!from || !to) return undefined;
  const { min, max } = lengthBetween(from, to);
  const held = admissionMs(input.timeline);
  const waited = waitWithin(input, { lo: from.earliest, hi: to.latest })?.ms ?? 0;
  return min - waited - (held === Infinity ? 0 : 2 * held) > maxCleanupMs
    ? { min, max, shown: (min + max) / 2 }
    : undefined;
}

/** A status reports the exits once the sandbox is stopped, if the kubelet can reach the API server by then. */
function lateStatus(input: RuleInput): Found | undefined {
  const { trace, timeline } = input;
  const done = markOf(timeline, 'containers-done')?.at;
  const ran = ranContainers(timeline);
  // An earlier state reported the exits already: they may be older than the deletion.
  const reported = Math.max(...ran.map(({ name }) => trace.containers.get(name)?.terminated?.seq ?? Infinity));
  if (!trace.terminal || !ran.every(reportedExit) || reported < trace.terminal.seq) return undefined;
  // The kubelet waits for a hook that goes on after the exit too.
  const ends = ran.flatMap((container) => [reportedExit(container), container.preStop?.end]).filter((end) => !!end);
  const last = ends.sort((a, b) => b.latest - a.latest)[0];
  const length = slowStep(input, last, done);
  if (!length || !last || !done) return undefined;
  return {
    clause: `it took ${lengthText(length)} until the kubelet reported the last exit`,
    advice: 'Look at the kubelet and the container runtime of the node, and at its connection to the API server.',
    delayMs: length.min,
    evidence: [last.evidence, trace.terminal.seq],
  };
}

function slowRemoval(input: RuleInput): Found | undefined {
  const { trace, timeline } = input;
  const done = markOf(timeline, 'containers-done')?.at;
  const final = markOf(timeline, 'final-delete')?.at;
  // Without the kubelet's final DELETE, finalizers may have held the pod instead of the cleanup.
  if (!final && trace.finalizing) return undefined;
  const open = final ? 0 : timeline.now - (done?.latest ?? Infinity);
  const stillOpen = open > maxCleanupMs ? { min: open, max: Infinity, shown: open } : undefined;
  const length = slowStep(input, done, final) ?? stillOpen;
  if (!length) return undefined;
  const clause = `cleanup took ${final ? lengthText(length) : `at least ${secondsText(length.min)}`}`;
  return {
    message: `${clause} after the last container had ended${final ? '' : ', and is not done'}`,
    clause,
    why: 'the API does not say what it waited for: sandbox, volumes, cgroup, the runtime, a webhook or the API server',
    advice:
      'It waited for the sandbox, volumes to unmount, the cgroup, the container runtime, or a webhook that refuses the last DELETE: the kubelet log of the node says which.',
    delayMs: length.min,
    evidence: [trace.terminal?.seq, trace.finalDelete?.seq],
  };
}
