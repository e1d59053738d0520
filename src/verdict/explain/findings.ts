import type { FindingCode } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

export const findingTexts: Record<FindingCode, Explanation> = {
  'killed-at-grace': {
    is: 'A container was still running when its grace ended, and was killed.',
    known: "Exit code 137 no earlier than the end of grace on the kubelet's clock, and no OOMKilled.",
    wrong: 'The moment of the kill is inferred: the API reports only the exit.',
    advice:
      'Handle the stop signal. Where the deletion asked for less than the spec (--now, --grace-period), delete without that; else, where the work really takes that long, raise terminationGracePeriodSeconds.',
  },
  'no-signal-handling': {
    is: 'A killed container, sidecars too, showed no sign that it had noticed the stop signal; in a check: its PID 1 may be a shell that seldom passes signals on.',
    known: 'No log line and no change of readiness between signal and kill; in a check: the command of the container.',
    wrong:
      'An application may drain in silence. A shell that ends with exec, or that sets a trap, does pass signals on. busybox, bash and newer dash also become the last command of their line where that is a simple one (`sh -c "app"`, `a && b`), and a script that is sourced (`. run.sh`) may set a trap in the shell itself: a check cannot see which shell it is, so there it is info, and fails no gate.',
    advice:
      'Start the application as PID 1 (exec form, or exec in the script), set a trap, or use an init such as tini.',
  },
  'exit-nonzero': {
    is: 'A container ended with a code that is neither 0 nor that of its stop signal.',
    known: 'Its last status.',
    wrong: 'The code may be that of a wrapper.',
    advice: 'Read its last log lines; make shutdown code exit with 0.',
  },
  'oom-on-exit': {
    is: 'A container was killed for memory while it was exiting, or perhaps so.',
    known: 'Reason OOMKilled with exit code 137, in a container that ran when the deletion came.',
    wrong:
      'Only a child process may have been killed, even long before: the reason stays. Where the end fits that of the grace, either may have ended it, and the finding says so.',
    advice: 'Raise the memory limit, or flush in smaller parts.',
  },
  'prestop-failed': {
    is: 'A preStop hook failed before its time ran out; in a check: it always will.',
    known:
      'A FailedPreStopHook Event; in a check: tcpSocket hooks are in the API but the kubelet has no code for them.',
    wrong: "The Event does not say why; the hook's output is not in the API.",
    advice: 'Run its command by hand in the container: often the binary is missing there. Use sleep or httpGet.',
  },
  'prestop-cut-off': {
    is: 'The preStop hook still ran when the grace ended; in a check: it will take as long as the grace or longer.',
    known: "The hook's failure no earlier than the end of grace; in a check: a sleep whose length is known.",
    wrong:
      'In a check, hooks of unknown length are not judged. A forced deletion leaves a hook one second: what it cuts off is a warning, and says nothing of the pod.',
    advice:
      'Raise terminationGracePeriodSeconds to hook + drain + a reserve, or shorten the hook. Where the deletion asked for less than the spec, delete without that.',
  },
  'prestop-heavy': {
    is: 'A hook used at least half of the grace.',
    known: 'Its start and end against the grace; in a check: the sleep that it is known to be.',
    wrong: 'The end of a hook is often an interval; the finding is told only where it certainly holds.',
    advice: 'What remains is all that the application has. Raise the grace by as much as the hook takes.',
  },
  'grace-nearly-spent': {
    is: 'A container ended by itself, but its hook and drain took at least 75 % of the grace; in a check: the known hook leaves less than a quarter.',
    known: 'Phases against the effective grace.',
    wrong: 'One run is one sample: under load it takes longer.',
    advice:
      'Raise terminationGracePeriodSeconds before a slow day does the rest. A sidecar stops after the main containers: where one of those held it, look at that one.',
  },
  'sidecar-killed': {
    is: 'A sidecar was killed at the end of grace; in a check: sidecars share what the main containers leave of it.',
    known: 'Exit 137 at the end of grace; in a check: init containers that restart always.',
    wrong: "A sidecar's kill seldom loses anything of the application, and so it does not change the outcome.",
    advice:
      'Let the main containers end sooner, or raise the grace. A sidecar that ignores its stop signal (no-signal-handling) takes all of any grace: make it react.',
  },
  'drain-race': {
    is: 'The stop signal came as the endpoint was being unrouted: clients were still being sent to a process that had been asked to stop.',
    known:
      "The stop signal less than a second after the EndpointSlice's change, or before it; in a check: a routed pod without a preStop hook.",
    wrong:
      'How long your proxies take is not in the API; an application that goes on accepting for a while loses nothing.',
    advice: 'A preStop sleep of about 5 s, and terminationGracePeriodSeconds raised by as much.',
  },
  'last-endpoint': {
    is: 'A Service had no other ready endpoint when this one was unrouted; in a check: it would have none.',
    known: 'The EndpointSlices of the Service.',
    wrong:
      'A replacement may have become ready in the same moment. Where the namespace or the owner was deleted it is not told: nobody was to be left.',
    advice: 'Two replicas or more, a surge in rollouts (maxUnavailable 0), and a PodDisruptionBudget.',
  },
  'no-ready-endpoint': {
    is: 'A Service of the pod had no ready endpoint for a measured time.',
    known: 'Changes of its EndpointSlices during the trace; it had one before.',
    wrong:
      'It counts what the API told, with the delay of the watch on both ends. That no endpoint was ready does not prove that requests failed: kube-proxy (1.28 and newer) falls back to endpoints that terminate and still serve, other proxies and load balancers may not.',
    advice: 'Have the replacement ready first.',
  },
  'stays-ready': {
    is: 'The endpoint stays ready although the pod ends: publishNotReadyAddresses, or (in a check) no readiness probe that could tell.',
    known: "The Service's setting; in a check also the containers' probes.",
    wrong: 'Headless Services of StatefulSets want it so.',
    advice:
      'Keep it only for peer discovery; route clients by another Service, and give the container a readiness probe.',
  },
  'finalizer-held': {
    is: 'Finalizers kept the finished pod in the API for a second or more; in a check: finalizers are set on it.',
    known: "metadata.finalizers after the kubelet's final DELETE.",
    wrong:
      'It names finalizers, not the controller that is slow. The time is that between two arrivals; where news may have been late, the bounds of the phase finalize stand behind it. A check passes over batch.kubernetes.io/job-tracking, which the Job controller takes away at once.',
    advice: 'Look for the controller that owns the finalizer.',
  },
  'node-silent': {
    is: 'The kubelet gave no sign within 10 s, or the node was not ready; in a check: the node is not ready now.',
    known:
      "No acknowledgement, no Killing Event, where one of them could be heard; the node's Ready condition and its Lease.",
    wrong: "The pod's processes may be running on, or long dead: the API cannot tell.",
    advice: 'Look at the node. Only when it is certainly off, mark it out-of-service or force the deletion.',
  },
  'slow-start': {
    is: 'The kubelet began 3 s or more after acceptance.',
    known: 'The earliest sign of the kubelet against the acceptance.',
    wrong: "It is judged on the clocks' certain bounds, so smaller delays may go untold.",
    advice:
      "Look at the kubelet's load and its connection to the API server; where a probe had just failed, at the restart that was under way.",
  },
  'slow-cleanup': {
    is: "More than 5 s from the status that told the last exit (containers-done) to the kubelet's final DELETE.",
    known: 'The two marks.',
    wrong: 'The exit itself came before that status, which waits for the sandbox to be stopped.',
    advice: "Look at volume unmounts, the CNI plugin and the kubelet's log.",
  },
  'kubelet-restarted': {
    is: 'The kubelet restarted during the exit, and the grace was counted anew.',
    known: "A second Killing Event of a container, and the kubelet's own start on the node.",
    wrong: 'No second stop signal is sent, as far as was ever seen.',
    advice: 'Nothing for the application; the exit may take up to twice the grace.',
  },
  'grace-shortened-ignored': {
    is: 'A later DELETE lowered the grace in the API, and the kill that was under way kept the old one.',
    known: 'Two graces of one deletion, and the kill against both.',
    wrong: 'Told only where the kill came certainly after the shorter grace.',
    advice: 'A second, shorter DELETE does not help; choose the grace with the first.',
  },
  'force-deleted': {
    is: 'The object was removed before its containers had ended; in a check: a grace of 0 will do that.',
    known: 'The outcome forced; in a check: terminationGracePeriodSeconds or --grace-period.',
    wrong:
      'How long the containers ran on is an estimate. The copy of a static pod is removed like this by its kubelet too, once it has stopped the containers: the outcome is unknown then.',
    advice: 'Give at least a second of grace.',
  },
  'deleted-before': {
    is: 'Somebody else had deleted the pod when the request of this command was executed.',
    known:
      'The first state with deletionTimestamp: its grace is not the one that was asked for, it was asked for before the request was sent, or its DisruptionTarget condition fits another cause.',
    wrong:
      'A proxy or server that drops the options of a DELETE looks the same: then the grace is that of the pod although another one was asked for.',
    advice: 'Find out who else deletes these pods: a controller, a drain, an autoscaler.',
  },
  'evidence-lost': {
    is: 'A gap or a refused stream touches what the report says.',
    known: 'The streams themselves: see "gaps" in the report.',
    wrong: 'Intervals are wider for it, not wrong.',
    advice: 'Grant the rights that are named (deploy/rbac.yaml), or run closer to the cluster.',
  },
  'unmanaged-pod': {
    is: 'No controller will replace the pod.',
    known: 'It has no ownerReference.',
    wrong: 'An operator may watch it without owning it. Where its whole namespace was deleted it is not told.',
    advice: 'Let a Deployment, StatefulSet, DaemonSet or Job own it.',
  },
  'endpoint-not-removed': {
    is: 'A Service kept the pod ready after its container had ended.',
    known: 'The EndpointSlices: no change took the endpoint out before the exit.',
    wrong: 'Only where the slices were watched without a gap.',
    advice: 'Look at kube-controller-manager, or whatever manages the EndpointSlice.',
  },
  'runtime-unavailable': {
    is: 'The kubelet could not stop the pod: the container runtime did not answer.',
    known: 'Events FailedKillPod during the deletion.',
    wrong: 'The Event does not say whether the runtime, the sandbox or the network plugin failed.',
    advice: 'Look at the container runtime on the node; the kubelet tries again with a whole grace period.',
  },
  'oom-in-container': {
    is: 'A process of a container was OOMKilled, though the container itself exited with 0 or its stop signal.',
    known: 'The reason OOMKilled with another exit code than 137.',
    wrong: 'It may have happened long before the deletion: the reason stays.',
    advice: 'Raise resources.limits.memory, or use less memory.',
  },
  'requests-lost': {
    is: 'A probe of podexit counted requests that failed during the exit.',
    known: 'The requests that --probe sent.',
    wrong: 'What fails on the way to the Service counts too.',
    advice: 'Add a preStop sleep longer than the last failed request came after the removal from the Service.',
  },
  'no-signal-handler': {
    is: 'PID 1 of a container has no handler for its stop signal (check --inspect).',
    known: 'SigCgt and SigIgn in /proc/1/status of the container.',
    wrong: 'A handler may be installed later.',
    advice: 'Handle the signal, or run the program under an init such as tini.',
  },
  'shell-as-pid-1': {
    is: 'PID 1 of a container is a shell that runs the program as its child (check).',
    known: 'The command of the container.',
    wrong: 'Some shells replace themselves by the last command of a line.',
    advice: 'Start the program with exec, or in exec form.',
  },
};
