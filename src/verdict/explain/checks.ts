/** What the findings mean that only a check of a spec has (docs/before-and-after.md). */
import type { Explanation } from './explanation.ts';

export const checkTexts = {
  'shell-as-pid-1': {
    is: 'PID 1 of the container is a shell that waits for the application and passes no signal on to it. The application does not learn of the shutdown and is killed with the shell when the grace period ends.',
    known:
      'From `command` and `args`: `sh -c` without `exec` for the last command, or a trap that can only run after a program in the foreground has ended. With `check --inspect` from `/proc/1/status` of the running container.',
    wrong:
      'Command lines are read without a shell. Where it depends on the shell (busybox, bash and newer dash become the last simple command of their line) the check says that it cannot tell.',
    advice: 'Start the application with `exec …`, without a shell, or put an init such as tini in front of it.',
  },
  'no-signal-handler': {
    is: 'PID 1 of the container has no handler for its stop signal. The kernel drops a signal without a handler for PID 1, so the application runs on until it is killed.',
    known:
      'From SigCgt, SigIgn and SigBlk of `/proc/1/status` in the running container (`check --inspect`): the signal is not among those that are caught.',
    wrong:
      'It is the state of one moment: a program that sets its handler later has none yet. A thread that waits for the signal with sigwait or signalfd blocks it and sets no handler; a blocked signal is therefore said to be "blocked", not unhandled.',
    advice: 'Handle the stop signal in the application, or start it under an init such as tini.',
  },
  'stop-signal-mismatch': {
    is: 'The container is stopped with another signal than the one that its command handles, or with SIGKILL, which nothing can handle.',
    known:
      "From `lifecycle.stopSignal`, or from the STOPSIGNAL of a few images that are known not to use SIGTERM, against the signals of the command's trap.",
    wrong:
      'An image of the same name may have another STOPSIGNAL, and a cluster without the feature ignores stopSignal.',
    advice: 'Handle the signal that is sent, or set `lifecycle.stopSignal` where the cluster has it.',
  },
  'target-port-missing': {
    is: 'A Service names a target port that no container of the pod declares, so it has no endpoint for that port.',
    known: 'From the names of the containers’ ports and the `targetPort` of each Service that selects the pod.',
    wrong: 'A sidecar that is injected when the pod is created may declare the port.',
    advice: 'Correct the name on one of the two sides, or write the number.',
  },
  'budget-blocks-eviction': {
    is: 'A PodDisruptionBudget leaves no pod that may be evicted, or two budgets cover the same pod: `kubectl drain` waits for it without end.',
    known:
      'From `minAvailable` or `maxUnavailable` against the replicas; of a running pod by the rule of the API server and the state of its budgets.',
    wrong: 'A budget whose controller is late may show an older number for a moment.',
    advice: 'Add a replica, or relax the budget.',
  },
  'classic-sidecar': {
    is: 'A helper such as a proxy or a log shipper is one of the main containers. It gets its stop signal together with the application and may be gone while that still needs it.',
    known: 'From the name of the container or of its image, which are those of well-known helpers.',
    wrong: 'A helper of another name is not recognised, and one that waits for the application by itself does no harm.',
    advice: 'Move it to `initContainers` with `restartPolicy: Always` (Kubernetes 1.29 and later).',
  },
  'host-network': {
    is: 'The pod uses ports of its node. A replacement cannot start on the same node before the old pod has released them.',
    known: 'From `hostNetwork` and `hostPort`.',
    wrong: 'Where there are always free nodes it does no harm.',
    advice: 'Leave a node free for a rollout, or set maxSurge 0 and maxUnavailable 1.',
  },
  'liveness-during-drain': {
    is: 'A liveness probe whose own grace period is shorter than the preStop hook: the restart that it causes cuts the hook off. Or the probe of a sidecar, which goes on while the pod shuts down.',
    known: 'From `terminationGracePeriodSeconds` of the probe and the literal length of the hook.',
    wrong: 'At a deletion the kubelet stops the liveness probes of main containers, so this concerns restarts.',
    advice: 'Raise the grace period of the probe above the length of the hook.',
  },
} satisfies Record<string, Explanation>;
