import type { FindingCode } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

const graceYaml = `terminationGracePeriodSeconds: 60 # in spec.template.spec; default 30`;

const sleepYaml = `terminationGracePeriodSeconds: 40 # in spec.template.spec: 30 + 10
containers:
- name: app
  lifecycle: { preStop: { sleep: { seconds: 10 } } } # Kubernetes 1.30`;

const execYaml = `containers: # in spec.template.spec
- name: app
  command: ["/app"] # not: sh -c "/app"`;

export const findingTexts: Record<FindingCode, Explanation> = {
  'killed-at-grace': {
    is: 'A container was still running when its grace period ended, and was SIGKILLed.',
    why: 'It could not finish requests, flush data or release locks.',
    known: "Exit code 137 when the kubelet's grace period ended, and no OOMKilled.",
    advice: 'Make it exit sooner after SIGTERM. Only where the work really takes longer, raise the grace period:',
    yaml: graceYaml,
  },
  'no-signal-handling': {
    is: 'A container that was SIGKILLed showed no reaction to its stop signal.',
    why: 'It spends the whole grace period on nothing; a longer one only delays the SIGKILL.',
    known:
      'No log line and no readiness change between SIGTERM and SIGKILL, and no trap for SIGTERM in its command. An app may also drain in silence. PID 1 ignores what it has no handler for; a shell in front of it passes no signals on; `trap "" TERM` is inherited through exec.',
    advice: 'Install a handler, start the program as PID 1 (exec form, or exec in the script), or use tini.',
    yaml: execYaml,
  },
  'exit-nonzero': {
    is: 'A container exited with a code that is neither 0 nor that of its stop signal.',
    why: 'Its shutdown failed: what it had to finish may be half done.',
    known: 'Its last status. The code may be that of a wrapper script.',
    advice: 'Read its last log lines; make the shutdown code exit with 0.',
  },
  'oom-on-exit': {
    is: 'A container was OOMKilled while it was shutting down, or perhaps so.',
    why: 'Its shutdown was cut short.',
    known: 'Reason OOMKilled with exit code 137. The reason stays from any process of the container, even long before.',
    advice: 'Raise the memory limit, or flush in smaller steps.',
    yaml: 'resources: { limits: { memory: 512Mi } }',
  },
  'prestop-failed': {
    is: 'A preStop hook failed; SIGTERM followed at once.',
    why: 'What the hook was for (deregistering, waiting for load balancers) did not happen.',
    known:
      'Event FailedPreStopHook; the API does not say why. A tcpSocket hook always fails. A hook that ends because its container exited also counts as failed, and does no harm.',
    advice: 'Run the hook by hand with kubectl exec. If it only has to wait, use a sleep (Kubernetes 1.30 and later):',
    yaml: 'lifecycle: { preStop: { sleep: { seconds: 10 } } }',
  },
  'prestop-cut-off': {
    is: 'A preStop hook was still running when the grace period ended.',
    why: "The app was left with 2 s after SIGTERM, the kubelet's minimum.",
    known: 'The length of the hook, or an Event FailedPreStopHook after the grace period.',
    advice: 'Shorten the hook, or raise the grace period above hook and drain together.',
    yaml: graceYaml,
  },
  'prestop-heavy': {
    is: 'A preStop hook took at least half of the grace period.',
    why: 'The grace period counts from the start of the hook: what the hook takes, the app does not get.',
    known: 'From when the kubelet started to terminate the container to the end of its hook.',
    advice: 'Raise the grace period by the length of the hook, or shorten the hook.',
    yaml: graceYaml,
  },
  'grace-nearly-spent': {
    is: 'A container exited in time, but used at least 75% of its grace period (or exited just past it).',
    why: 'Little headroom: a slower shutdown will be SIGKILLed.',
    known: 'From when the kubelet started to terminate the container to its exit. One run is one sample.',
    advice: 'Raise the grace period. A sidecar stops after the main containers: look at the one that held it.',
    yaml: graceYaml,
  },
  'sidecar-killed': {
    is: 'A sidecar or debug container was SIGKILLed.',
    why: 'It does not change the outcome, but the pod waited for it to the end of its grace period.',
    known: 'Exit code 137 at the end of the grace period. Sidecars get what the main containers leave of it.',
    advice: 'Make it handle SIGTERM (see no-signal-handling), or let the main containers exit sooner.',
  },
  'drain-race': {
    is: 'SIGTERM came before load balancers could stop sending traffic.',
    why: 'Proxies and load balancers learn of the removal later than the API: new requests reach an app that is stopping.',
    known:
      "SIGTERM was due less than a second after the removal from a Service, or may have been if no preStop hook delayed it. Only containers that serve the Service's target port count. An app that keeps accepting for a while loses nothing.",
    advice: 'Let a preStop sleep keep it serving until load balancers know, and raise the grace period by as much.',
    yaml: sleepYaml,
  },
  'last-endpoint': {
    is: 'A Service had no other ready endpoint when the pod was removed from it.',
    why: 'New connections had no ready backend.',
    known:
      'The EndpointSlices of the Service. Not said where that was meant: a namespace or owner deleted, a scale to 0, a Job, --force.',
    advice: 'Run two replicas or more, protected by a PodDisruptionBudget; for rolling updates of a Deployment:',
    yaml: '# in spec of the Deployment\nstrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }',
  },
  'no-ready-endpoint': {
    is: 'A Service of the pod had no ready endpoint for a measured time.',
    why: 'New connections had no ready backend, or at best one that was terminating.',
    known: 'Changes of its EndpointSlices. It does not prove that requests failed: --probe measures that.',
    advice: 'Have the replacement ready first: more replicas, or maxUnavailable: 0 for rolling updates.',
  },
  'stays-ready': {
    is: 'A Service keeps sending traffic to the pod until it is gone: publishNotReadyAddresses. Or (check) a container has no readiness probe.',
    why: 'Clients reach an app that is stopping, or a replacement that does not serve yet.',
    known:
      "The Service's setting, which headless Services of StatefulSets want for peer discovery, and the probes of the spec.",
    advice: 'Let clients use another Service, or give the container a readiness probe.',
    yaml: '# of the Service\nspec: { publishNotReadyAddresses: false }',
  },
  'finalizer-held': {
    is: 'Finalizers kept the finished pod in the API for a second or more.',
    why: 'The name stays taken: a StatefulSet waits for it, and so does kubectl delete.',
    known: "metadata.finalizers after the kubelet's last DELETE, by arrival here.",
    advice: "See which controller owns the finalizer (kubectl get pod NAME -o jsonpath='{.metadata.finalizers}').",
  },
  'node-silent': {
    is: 'The kubelet did not respond for 10 s or more after the deletion, or the node was NotReady.',
    why: 'Nothing stops the pod meanwhile; the grace period counts only from when the kubelet acts.',
    known: 'No Killing Event, no status and no renewed Lease. Whether the processes still run cannot be seen.',
    advice:
      'Look at the node (kubectl describe node). Only when it is certainly off: kubectl taint node NAME node.kubernetes.io/out-of-service=nodeshutdown:NoExecute',
  },
  'slow-start': {
    is: 'The kubelet started termination 3 s or more after the deletion.',
    why: 'The exit takes that much longer than the grace period says.',
    known:
      'The first Killing Event or status. Usual reasons: an image pull, a postStart hook, a restart after a failed probe.',
    advice: "Look at the Events of the pod (kubectl describe pod) and at the kubelet's load.",
  },
  'slow-cleanup': {
    is: "More than 5 s passed from the last exit to the status that reports it (containers-done), or from there to the kubelet's last DELETE.",
    why: 'Volumes, address and name of the pod stay taken.',
    known: 'These marks. The API does not say what it waited for.',
    advice:
      'Look at volume unmounts, the network plugin, webhooks on DELETE, the kubelet log, and whether the node reached the API server.',
  },
  'kubelet-restarted': {
    is: 'The kubelet restarted during the exit, and the grace period started again.',
    why: 'The exit may take up to twice the grace period; preStop hooks run twice.',
    known: "A second Killing Event, and the kubelet's own start on the node.",
    advice: 'Find out why the kubelet restarted; the app needs no change.',
  },
  'grace-shortened-ignored': {
    is: 'A second DELETE asked for a shorter grace period, and the kill in progress kept the old one.',
    why: 'A kill in progress is rarely shortened: the pod takes as long as before.',
    known: 'Two grace periods of one deletion, and a SIGKILL that fits the first.',
    advice: 'Ask for the short grace period in the first DELETE.',
  },
  'force-deleted': {
    is: 'The pod was deleted from the API before its containers had ended.',
    why: 'They kept running: a new pod with the same name or volume may run at the same time.',
    known: "A DELETE with grace 0, or the removal of a static pod's copy. Their logs show how long they kept running.",
    advice: 'Use --force only where the node is gone for good.',
  },
  'deleted-before': {
    is: 'Another client had deleted the pod before the request of this command.',
    why: 'The grace period and the cause are those of the other deletion.',
    known: 'A deletionTimestamp that is older, or a grace period or condition that does not fit the request.',
    advice: 'Find out who else deletes these pods: a controller, a drain, an autoscaler.',
  },
  'evidence-lost': {
    is: 'A stream that the answer leans on was refused or had a gap.',
    why: 'Times are approximate: intervals are wider, not wrong.',
    known: '`gaps` in the report; -v lists them.',
    advice: 'Grant the rights that are named (deploy/rbac.yaml), or run closer to the cluster.',
  },
  'unmanaged-pod': {
    is: 'No controller owns the pod.',
    why: 'Nothing replaces it.',
    known: 'It has no ownerReference. An operator may watch it without owning it.',
    advice: 'Let a Deployment, StatefulSet, DaemonSet or Job own it.',
  },
  'endpoint-not-removed': {
    is: 'A Service kept the pod ready after its container had ended.',
    why: 'Clients could still be sent to a pod that could not answer.',
    known: 'No change of the EndpointSlice before the exit, though it was watched without a gap.',
    advice: 'Look at kube-controller-manager, or whatever manages the EndpointSlice.',
  },
  'runtime-unavailable': {
    is: 'The kubelet could not stop the pod: the container runtime did not answer.',
    why: 'The kubelet tries again after about 10 s, with a full grace period.',
    known: 'Events FailedKillPod. They do not say whether runtime, sandbox or network plugin failed.',
    advice: 'Look at the container runtime on the node (journalctl -u containerd).',
  },
  'oom-in-container': {
    is: 'A process of a container was OOMKilled, though the container exited 0 or by its stop signal.',
    why: 'A worker may have died with its work, unnoticed.',
    known: 'Reason OOMKilled with an exit code other than 137. It may have happened long before the deletion.',
    advice: 'Raise the memory limit, or use less memory.',
    yaml: 'resources: { limits: { memory: 512Mi } }',
  },
  'requests-lost': {
    is: 'Requests of a probe failed during the exit.',
    why: 'Clients lost requests too.',
    known: 'What --probe sent and counted (docs/traffic.md).',
    advice: 'The card says why. Where load balancers kept sending, add a preStop sleep that outlasts that:',
    yaml: sleepYaml,
  },
  'no-signal-handler': {
    is: 'PID 1 of a container has no handler for its stop signal (check --inspect).',
    why: 'The kernel drops signals that PID 1 does not handle: it will be SIGKILLed.',
    known: 'SigCgt and SigIgn in /proc/1/status. A handler may be installed later.',
    advice: 'Handle the signal, or run the program under an init such as tini.',
    yaml: 'command: ["tini", "--", "/app"]',
  },
  'shell-as-pid-1': {
    is: 'PID 1 of a container is a shell that runs the program as its child (check).',
    why: 'The shell receives SIGTERM and does not pass it on.',
    known:
      'The command of the container. busybox, bash and newer dash replace themselves by the last command of a line, and a script that is sourced may set a trap.',
    advice: 'Start the program with exec, or in exec form:',
    yaml: execYaml,
  },
};

/** Codes that only `check` reports (docs/before-and-after.md). */
export const checkTexts = {
  'stop-signal-mismatch': {
    is: 'A container is stopped with another signal than its command handles, or with SIGKILL.',
    why: 'Its handler never runs.',
    known: "lifecycle.stopSignal, or the STOPSIGNAL of a few well-known images, against the command's trap.",
    advice:
      'Handle the signal that is sent, or set `lifecycle.stopSignal` and `spec.os.name` (gate ContainerStopSignals).',
  },
  'target-port-missing': {
    is: 'A Service names a target port that no container declares.',
    why: 'It has no endpoint for that port.',
    known: 'The names of the ports against targetPort. An injected sidecar may declare it.',
    advice: 'Correct the name on one of the two sides, or write the number.',
  },
  'budget-blocks-eviction': {
    is: 'A PodDisruptionBudget allows no eviction, or two budgets cover the same pod.',
    why: '`kubectl drain` waits for it without end.',
    known: 'minAvailable or maxUnavailable against the replicas; of a running pod the state of its budgets.',
    advice: 'Add a replica, let only one budget select the pod, or relax the budget:',
    yaml: '# of the PodDisruptionBudget, instead of minAvailable\nspec: { maxUnavailable: 1 }',
  },
  'classic-sidecar': {
    is: 'A helper such as a proxy or log shipper is one of the main containers.',
    why: 'It gets SIGTERM together with the app and may be gone while the app still needs it.',
    known: 'The name of the container or image. One that waits for the app by itself does no harm.',
    advice: 'Make it a native sidecar (Kubernetes 1.29 and later):',
    yaml: '# in spec.template.spec, moved from containers\ninitContainers:\n- name: proxy\n  restartPolicy: Always',
  },
  'host-network': {
    is: 'The pod uses ports of its node.',
    why: 'A replacement cannot start on the same node before the old pod has released them.',
    known: 'hostNetwork and hostPort.',
    advice: 'Leave a node free for rollouts, or:',
    yaml: '# in spec of the Deployment\nstrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }',
  },
  'liveness-during-drain': {
    is: 'A liveness probe may end the container during its preStop hook, or that of a sidecar while the pod shuts down.',
    why: 'The hook is cut off. At a deletion the kubelet stops the probes of main containers, so this concerns restarts.',
    known: 'terminationGracePeriodSeconds of the probe against the length of the hook.',
    advice: 'Raise the grace period of the probe above the length of the hook.',
  },
} satisfies Record<string, Explanation>;
