import type { ContainerOutcome, Outcome } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

export const outcomeTexts: Record<Outcome, Explanation> = {
  forced: {
    is: 'The object was removed while its containers still ran (grace 0). Exit code 2.',
    known: 'The pod was DELETED without any container having been reported as ended.',
    wrong:
      'How long they ran on is known only where a log stream or an Event went on telling. What ended by itself in the last second before may not have been reported yet.',
    advice: 'Avoid --force: "deleted" is not "stopped", and a StatefulSet\'s successor may run beside its predecessor.',
  },
  oom: {
    is: 'A container was killed for memory while it was exiting. Exit code 2.',
    known: "Reason OOMKilled in the container's last status.",
    wrong: 'containerd also says OOMKilled where only a child process was killed.',
    advice: 'Raise the memory limit, or write less into memory at shutdown.',
  },
  killed: {
    is: 'A container was killed (SIGKILL) when the grace period ended. Exit code 2.',
    known: "Exit code 137, no OOMKilled, and an exit no earlier than the end of grace on the kubelet's clock.",
    wrong:
      '137 alone proves nothing: an application may choose it, and the kubelet makes it up for containers it has lost.',
    advice:
      'See no-signal-handling: most often the process never got the signal. Else raise terminationGracePeriodSeconds.',
  },
  failed: {
    is: 'A container ended with an exit code that is neither 0 nor that of its stop signal. Exit code 2.',
    known: 'The exit code in its last status.',
    wrong:
      'Some runtimes report 255 when they have lost the real code. A crash of its own within a second of the deletion looks the same.',
    advice: "Read its last log lines: shutdown code threw, or a wrapper passed on a child's code.",
  },
  overran: {
    is: 'The grace ran out, but nothing had to be killed: a hook was cut off, or the exit came in the seconds after. Exit code 2.',
    known: "Hook and drain against the grace, counted from the kubelet's start.",
    wrong: 'Where the interval of the exit reaches over the end of grace, it is not claimed.',
    advice: 'Shorten the hook, or raise terminationGracePeriodSeconds to hook + drain + a reserve.',
  },
  stuck: {
    is: 'The pod was still terminating when --timeout ran out. Exit code 3.',
    known: 'No DELETED for this uid until then, and a last look found no other pod of its name.',
    wrong:
      'A timeout shorter than the grace calls a healthy exit stuck. Where the stream of the pod is lost and that look is not answered either, the outcome is unknown.',
    advice:
      'The phases say where it stands: no notice is the node, no exit the application, no final delete the runtime, finalize a finalizer.',
  },
  unknown: {
    is: 'Evidence was lost, so that it cannot be said how the pod ended. Exit code 4.',
    known: "A container's last status was never published, or the run ended before the pod was gone.",
    wrong: 'It is no judgement of the application.',
    advice: 'Look at "gaps" in the report: grant what was refused, or run closer to the cluster.',
  },
  graceful: {
    is: 'Every container ended by itself within the grace. Exit code 0.',
    known: 'The exit codes and the time of every exit.',
    wrong: 'It says nothing about requests that were lost on the way: read drain-race and last-endpoint.',
    advice: 'Nothing, as far as the exit goes.',
  },
  removed: {
    is: 'Nothing was running: the pod was pending, finished, or between restarts. Exit code 0.',
    known: 'The container states when the deletion began.',
    wrong: 'A container that started in the same moment may be missed.',
    advice: 'Nothing.',
  },
  'not-started': {
    is: '--attach waited, and nobody deleted the pod by --timeout. Exit code 3.',
    known: 'No deletionTimestamp was seen, and the watch was never broken meanwhile.',
    wrong: 'Kubelet evictions and node shutdown end pods without ever setting a deletionTimestamp.',
    advice:
      'Start --attach first, and the deletion (a rollout, a drain) while it waits; --timeout 0 waits for ever. Without --attach the pod is deleted by the command itself.',
  },
};

export const containerTexts: Record<ContainerOutcome, Explanation> = {
  completed: {
    is: 'The container ended with exit code 0.',
    known: 'Its last status.',
    wrong: 'Code 0 says that it ended in order, not how fast: read the drain phase.',
    advice: 'Nothing.',
  },
  signalled: {
    is: 'It ended with 128 + its stop signal (143 for SIGTERM): the usual end of a process without a handler, or of one that chose that code.',
    known:
      'The code, and the stop signal of the container where the API tells it. Where it does not, the codes of those that ask a program to end: 129 (HUP), 130 (INT), 131 (QUIT), 138 (USR1), 140 (USR2) and 143 (TERM). 132, 134 and 139 tell of a crash: failed.',
    wrong: 'It cannot be distinguished from a handler that exits with this code after draining (the JVM does).',
    advice: 'Nothing, if requests were finished by then.',
  },
  failed: {
    is: 'It ended with any other code.',
    known: 'Its last status.',
    wrong: 'A wrapper script may replace the code of what it runs.',
    advice: 'Read its last log lines.',
  },
  killed: {
    is: 'SIGKILL at the end of the grace.',
    known: '137 at a time that only the end of grace explains.',
    wrong: 'Earlier than that, 137 has another cause, and the outcome is failed.',
    advice: 'Handle the stop signal in PID 1, or give more time.',
  },
  oom: {
    is: 'Killed for memory while exiting.',
    known: 'Reason OOMKilled.',
    wrong: 'It may have been a child process only.',
    advice: 'Raise the limit or need less at shutdown.',
  },
  abandoned: {
    is: 'The object went away while the container ran.',
    known: 'DELETED without a last status of it.',
    wrong: 'It may have ended just before, unreported.',
    advice: 'Do not force deletions.',
  },
  'not-running': {
    is: 'It did not run when the deletion began: never started, finished, or waiting for a restart.',
    known: 'Its state before the deletion.',
    wrong: 'A start in the same moment may be missed.',
    advice: 'Nothing for the exit; a container that crashes in a loop has troubles of its own.',
  },
  unknown: {
    is: 'Its end was never reported, or with a code that the kubelet made up (ContainerStatusUnknown).',
    known: 'No termination with a time of its own.',
    wrong: 'It may well have ended in order.',
    advice: "Watch with rights on logs and Events; look at the kubelet's log.",
  },
};
