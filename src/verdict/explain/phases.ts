import type { PhaseName } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

export const phases: Record<PhaseName, Explanation> = {
  accept: {
    is: 'From sending the DELETE (or the eviction) to the moment when the API server had marked the pod with a deletionTimestamp.',
    known:
      "The start is our own clock. The end lies before the answer, or the first watch line with a deletionTimestamp, arrived; the deadline minus the grace gives the second in which it happened on the API server's clock.",
    wrong: 'With --attach nobody here sent the request, so its start is bounded only by what was seen before.',
    advice: 'Long: look at admission webhooks for DELETE and at the load of the API server.',
  },
  notice: {
    is: 'From acceptance until the kubelet of the node began to stop the pod.',
    known:
      "The Killing Event carries the kubelet's nanoseconds in its name; the status patch with observedGeneration bounds it from above.",
    wrong:
      "The Event is on the node's clock, so the interval is as wide as the offset is uncertain. Where Events may not be read it is wider still.",
    advice: 'More than a second or two: the kubelet is busy, restarting, or cut off from the API server.',
  },
  'route-removal': {
    is: 'From acceptance until every EndpointSlice that held the pod had stopped calling it ready.',
    known: "Arrival of the EndpointSlice's change, and its place between other changes of the cluster.",
    wrong:
      'It is when the API said so. kube-proxy, ingress controllers, service meshes and load balancers learn of it later, each in its own time.',
    advice:
      'A preStop sleep that is longer than what your slowest proxy needs keeps requests from meeting a closed port.',
  },
  prestop: {
    is: "A container's preStop hook, from its start to its end; the stop signal waits for it, and the grace period runs meanwhile.",
    known:
      'The hook starts with the Killing Event. Its end is exact for a sleep, for a hook that failed in time (FailedPreStopHook) and for one that grace cut off; else it lies before the exit.',
    wrong:
      'A hook that succeeds leaves no trace in the API: then its end is an interval, sometimes as wide as the whole exit.',
    advice: 'It shares terminationGracePeriodSeconds with the drain: raise the grace by as much as the hook takes.',
  },
  'sidecar-wait': {
    is: 'The time in which a sidecar (an init container that restarts always) waits for the main containers to end before it gets its own stop signal.',
    known: "From the kubelet's start to the last exit of the containers that it serves.",
    wrong: 'Its end is as exact as those exits, which the API reports in whole seconds and all at once.',
    advice: 'Nothing by itself. What the main containers use of the grace is gone for the sidecars.',
  },
  drain: {
    is: "From the stop signal to the container's exit: what the application does after being asked to stop.",
    known:
      "Nothing in the API says that the signal was sent: it is inferred from Killing, the hook and log lines. The exit comes from finishedAt (a whole second of the node's clock) and from the end of the log.",
    wrong:
      'A node under load may deliver the signal later than assumed; the assumed bounds stand in the report under "assumes".',
    advice: 'Long: finish requests sooner, close idle connections, or raise terminationGracePeriodSeconds.',
  },
  overtime: {
    is: "The part of a container's exit after its grace had run out: at least 2 seconds are given after a hook that used it up.",
    known: "Grace counted from the kubelet's own start, against the exit.",
    wrong:
      'The deletionTimestamp is not the end of the grace: the kubelet counts on its own clock and from its own start.',
    advice: 'The hook and the drain together need more than the grace: shorten them or raise it.',
  },
  cleanup: {
    is: "From the status that reported that all containers had ended (containers-done) until the kubelet's final DELETE: volumes and cgroups are taken down.",
    known: 'From that status to the state with grace 0, or to the removal.',
    wrong:
      'The last exit itself came earlier: the kubelet tells it once the sandbox with its network is stopped. A part of what looks like clean-up may be its own bookkeeping.',
    advice: "More than a few seconds: look at volume detach, the CNI plugin and the kubelet's log on that node.",
  },
  finalize: {
    is: 'The finished pod stays in the API because finalizers are set on it.',
    known: 'From the final DELETE to the removal of the object; the finalizers are named as last seen.',
    wrong: 'It says which finalizers were there, not which controller failed to remove them.',
    advice: 'Find the controller behind the finalizer. Do not remove it by hand unless its work is known to be done.',
  },
  replace: {
    is: "From the replacement's creation until it was ready; its marks tell when it got a node and when its containers had started.",
    known: 'The pods of the same workload, watched by its selector.',
    wrong:
      'In a rollout several pods come at once; the one that is named is the first that came after the deletion (else the only one before it), not a promise of who serves for whom.',
    advice: 'Long: look at scheduling, image pulls and the readiness probe.',
  },
};
