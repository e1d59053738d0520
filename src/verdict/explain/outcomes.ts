/** What the outcomes of exits and containers mean, and what may have deleted a pod. */
import type { ContainerOutcome, Outcome, TriggerKind } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

export const outcomeTexts: Record<Outcome, Explanation> = {
  forced: {
    is: 'The pod was deleted from the API while its containers still ran (grace period 0). Exit code 2.',
    known: 'The pod was gone before any container had ended. Only logs show how long they kept running.',
    advice: 'Avoid --force: a new pod with the same name or volume may run at the same time as the old one.',
  },
  oom: {
    is: 'A container was OOMKilled while it was shutting down. Exit code 2.',
    known: 'Reason OOMKilled with exit code 137. containerd also says so where only a child process was killed.',
    advice: 'Raise the memory limit, or use less memory for shutting down.',
  },
  killed: {
    is: 'A container was SIGKILLed when its grace period ended. Exit code 2.',
    known: 'Exit code 137 no earlier than the end of the grace period on the clock of the kubelet, and no OOMKilled.',
    wrong: 'An app may exit 137 by itself; if the time fits both, the report says "probably".',
    advice: 'See no-signal-handling; an app that does react needs a longer grace period.',
  },
  failed: {
    is: 'A container exited with a code that is neither 0 nor that of its stop signal. Exit code 2.',
    known: 'Its last status. Some runtimes report 255 when they have lost the code.',
    advice: 'Read its last log lines: the shutdown code failed, or a wrapper passed on the code of its child.',
  },
  overran: {
    is: 'The pod exited past its grace period, or a preStop hook still ran at its end, and nothing was killed. Exit code 2.',
    known: 'Hook and drain against the grace period from the start of termination. Claimed only where it is certain.',
    advice: 'Shorten the hook, or raise the grace period above hook and drain together.',
  },
  stuck: {
    is: 'The pod was still terminating when --timeout ended. Exit code 3.',
    known: 'The pod was still in the API at a last look. A timeout below the grace period calls healthy exits stuck.',
    advice: 'The card says what it waits for: the kubelet, a container, the cleanup or a finalizer.',
  },
  unknown: {
    is: 'Evidence is missing, so that the result is not known. Exit code 4.',
    known: 'The last status of a container was never published, or the run ended before the pod was gone.',
    advice: 'See "gaps" in the report: grant what was refused, or run closer to the cluster.',
  },
  graceful: {
    is: 'Every container exited by itself within the grace period. Exit code 0.',
    known: 'The exit codes and the times of the exits. Lost requests are another matter: see drain-race.',
  },
  removed: {
    is: 'Nothing was running: the pod was pending, finished, or between restarts. Exit code 0.',
    known: 'The states of its containers when the deletion began.',
  },
  'not-started': {
    is: '--attach waited, and nobody deleted the pod before --timeout. Exit code 3.',
    known: 'No deletionTimestamp on an unbroken watch. Kubelet evictions and node shutdown set none.',
    advice: 'Start --attach first and the deletion while it waits; --timeout 0 waits without end.',
  },
};

export const containerTexts: Record<ContainerOutcome, Explanation> = {
  completed: {
    is: 'The container exited with code 0.',
    known: 'Its last status. The drain phase shows how long it took.',
  },
  signalled: {
    is: 'It exited with 128 plus its stop signal (143 for SIGTERM), as a process without a handler does.',
    known:
      'The code, and the stop signal where the API names it; else the codes of signals that ask a program to end: 129 (HUP), 130 (INT), 131 (QUIT), 138 (USR1), 140 (USR2) and 143 (TERM). 132, 134 and 139 mean a crash (failed).',
    wrong: 'A handler may exit with this code after draining (the JVM does).',
    advice: 'Nothing, if its requests were finished by then.',
  },
  failed: {
    is: 'It exited with any other code.',
    known: 'Its last status. A wrapper script may replace the code.',
    advice: 'Read its last log lines.',
  },
  killed: {
    is: 'It was SIGKILLed at the end of the grace period.',
    known: 'Exit code 137 at a time that only the end of the grace period explains; earlier than that it is failed.',
    advice: 'Handle the stop signal in PID 1, or give it more time.',
  },
  oom: {
    is: 'It was OOMKilled while shutting down.',
    known: 'Reason OOMKilled with exit code 137.',
    advice: 'Raise its memory limit.',
  },
  abandoned: {
    is: 'The pod was gone from the API while it still ran.',
    known: 'The removal came without a last status. It may have ended just before.',
    advice: 'Do not force deletions.',
  },
  'not-running': {
    is: 'It did not run when the deletion began: not started, finished, or waiting for a restart.',
    known: 'Its state before the deletion.',
    advice: 'Nothing for the exit.',
  },
  unknown: {
    is: 'Its end was never reported, or with a code that the kubelet made up (ContainerStatusUnknown).',
    known: 'No termination with a time of its own.',
    advice: "Grant logs and Events; look at the kubelet's log.",
  },
};

const condition = (reason: string): string => `The condition DisruptionTarget with reason ${reason}.`;
const mayBeMissing = 'Events may be merged, refused or late: then it is unknown.';

/** Only the audit log records who sent a DELETE (SIGNALS.md §4). */
export const triggerTexts: Record<TriggerKind, Explanation> = {
  'this-command': {
    is: 'This command sent the DELETE that deleted the pod.',
    known: 'The answer to it. A DELETE of another client that came before is found (deleted-before).',
  },
  'eviction-api': {
    is: 'The pod was evicted through the API: by --evict, kubectl drain, an autoscaler.',
    known:
      'With --evict, the answer to the request; else the condition DisruptionTarget with reason EvictionByEvictionAPI.',
    advice: 'A cordoned node is being drained; a PodDisruptionBudget limits how many go at once.',
  },
  preemption: {
    is: 'The scheduler made room for a pod of higher priority.',
    known: `${condition('PreemptionByScheduler')} The Event Preempted goes with it.`,
    advice: 'Give the pod a higher PriorityClass, or the cluster more room.',
  },
  taint: {
    is: 'Its node got a NoExecute taint that the pod does not tolerate.',
    known: `${condition('DeletionByTaintManager')} The Event TaintManagerEviction goes with it.`,
    advice: 'Look at the taints of the node and at tolerationSeconds of the pod.',
  },
  'device-taint': {
    is: 'A device that the pod uses (dynamic resource allocation) was tainted.',
    known: condition('DeletionByDeviceTaintManager'),
    advice: 'Look at the taints of the ResourceSlice and at the tolerations of the claim.',
  },
  'pod-gc': {
    is: 'The pod garbage collector removed it with grace period 0: its node is gone or out of service.',
    known: `${condition('DeletionByPodGC')} Whether its processes stopped is not known.`,
    advice: 'Look at what happened to the node; a volume may still be attached there.',
  },
  rollout: {
    is: 'Its controller replaced it by a pod of another template.',
    known: 'SuccessfulDelete or the scaling of its owner, together with another template.',
    wrong: mayBeMissing,
  },
  'scale-down': {
    is: 'Its controller was asked to run fewer pods.',
    known:
      'SuccessfulDelete, or fewer replicas of its owner at the time of the deletion. In a run over several pods an autoscaler is named whose Event (SuccessfulRescale) set just that number.',
    wrong: mayBeMissing,
    advice: 'Where nobody scaled, look for an autoscaler: kubectl get hpa.',
  },
  'owner-deleted': {
    is: 'Its owner was deleted, and the garbage collector followed; also a Job past its ttlSecondsAfterFinished.',
    known: 'The owner was gone when the pod was deleted, or within a second. No Event says so.',
  },
  job: {
    is: 'Its Job completed, failed or was suspended, and stopped what still ran.',
    known: "The Job's conditions, or its Event SuccessfulDelete.",
    wrong: `A Job past its ttlSecondsAfterFinished is deleted itself: shown as owner-deleted. ${mayBeMissing}`,
    advice: 'Look at the conditions of the Job.',
  },
  'namespace-deletion': {
    is: 'Its whole namespace is being deleted.',
    known: "The namespace's deletionTimestamp, not later than the pod's deletion; both are whole seconds.",
  },
  unknown: {
    is: 'What deleted the pod is not known: most often another client with kubectl delete.',
    known: 'No condition, Event or owner explains it.',
    advice: "Look into the API server's audit log; grant owners and Events (deploy/rbac.yaml).",
  },
};
