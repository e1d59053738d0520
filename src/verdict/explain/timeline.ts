/** What the marks and phases of a timeline mean. */
import type { MarkName, PhaseName } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

const proxiesLater = 'Proxies, meshes and load balancers follow later, each in its own time.';

export const markTexts: Record<MarkName, Explanation> = {
  requested: {
    is: 'This command sent the DELETE or the eviction.',
    known: 'The clock of this machine.',
  },
  accepted: {
    is: 'The API server set the deletionTimestamp, or removed the pod at once.',
    known: 'The answer to the request or the first change of the pod; deadline minus grace period gives the second.',
    wrong: 'deletionTimestamp is a deadline, not this moment, and a later DELETE rewrites it.',
  },
  acknowledged: {
    is: "The kubelet's first reaction to the deletion: a status with observedGeneration, or a Killing Event.",
    known: 'Whichever arrived first. Before Kubernetes 1.35 the status has no such field.',
    advice: 'Where it is missing for seconds, see node-silent and slow-start.',
  },
  unrouted: {
    is: 'A Service stopped listing the pod as ready: no new requests from clients that follow its EndpointSlice.',
    known: 'The change of the EndpointSlice.',
    wrong: proxiesLater,
    advice: 'Where SIGTERM comes first, see drain-race.',
  },
  'endpoint-removed': {
    is: 'The EndpointSlice no longer lists the pod, not even as terminating.',
    known: 'The change of the EndpointSlice. Open connections last until one end closes them.',
  },
  stopping: {
    is: 'The kubelet started termination of the container: its preStop hook runs, or SIGTERM is next.',
    known: 'The Killing Event; its name holds nanoseconds. A busy kubelet drops or merges Events.',
    advice: 'Long after the acceptance: see slow-start.',
  },
  'prestop-ended': {
    is: 'The preStop hook completed, failed, or still ran when the grace period ended.',
    known: 'The length of a sleep, FailedPreStopHook, the end of the grace period, or the exit after it.',
    wrong: 'A hook that succeeds leaves no trace, so its end may be as wide as the whole exit.',
    advice: 'See prestop-heavy and prestop-cut-off.',
  },
  'stop-signal': {
    is: 'The runtime sent SIGTERM (or the STOPSIGNAL of the pod or image) to PID 1.',
    known: 'Not in the API: it follows from the Killing Event, the end of the hook and log lines that name the signal.',
    wrong:
      'A container that exited by itself less than a second before looks the same. The signal is called SIGTERM unless the API or a well-known image (nginx, httpd, postgres, haproxy, php) names another one, and has no name if the container ended as by another signal.',
    advice: 'Where nothing follows it until SIGKILL, see no-signal-handling.',
  },
  kill: {
    is: 'The runtime sent SIGKILL because the container still ran when its grace period ended.',
    known: 'Exit code 137 at a time that fits the end of the grace period on the clock of the kubelet.',
    advice: 'See killed-at-grace.',
  },
  exited: {
    is: "The container's main process had ended.",
    known: 'finishedAt in its status (whole seconds of the node), narrowed by its log and its signals.',
    wrong: 'Statuses come late and all at once; until then the end of the log counts, and the line says "probably".',
    advice: 'The exit code stands beside it; see the outcomes of containers.',
  },
  'containers-done': {
    is: 'The kubelet reported the end of all containers in one status.',
    known: 'The arrival of that status. The exits themselves came before it, sometimes by seconds.',
  },
  'final-delete': {
    is: 'The kubelet had cleaned up and sent its own DELETE with grace period 0.',
    known: 'deletionGracePeriodSeconds 0, or the removal. With finalizers the pod object stays.',
    advice: 'Long after containers-done: see slow-cleanup.',
  },
  finalizing: {
    is: 'Only finalizers keep the pod in the API.',
    known: 'A state with grace period 0 that still lists them. Which controller must act is not known.',
    advice: 'See finalizer-held.',
  },
  removed: {
    is: 'The pod was gone from the API: its name is free.',
    known: 'DELETED on the watch, or a list or GET without it. After --force containers may keep running.',
  },
  'replacement-created': {
    is: 'A pod of the same workload was created that may replace this one.',
    known: 'Its creationTimestamp and its arrival on the watch of the workload.',
    wrong: 'In a rollout several come at once: one is paired with this pod, none is promised to it.',
  },
  'replacement-scheduled': {
    is: 'The replacement got a node.',
    known: 'Its PodScheduled condition, in whole seconds.',
    advice: 'Long after its creation: look at resource requests, affinity and quotas.',
  },
  'replacement-started': {
    is: 'All main containers of the replacement ran.',
    known: 'startedAt in its status. Running is not ready.',
    advice: 'Long after it was scheduled: look at image pulls and init containers.',
  },
  'replacement-ready': {
    is: 'The replacement was Ready: Services send it requests.',
    known: `Its Ready condition. ${proxiesLater}`,
    advice: 'Long after its start: look at its readiness probe.',
  },
  'node-not-ready': {
    is: 'The node became NotReady.',
    known: 'Its Ready condition, or a NodeNotReady Event; 40 to 50 s after its kubelet was last active.',
    advice: 'See node-silent.',
  },
  'node-ready': {
    is: 'The node was Ready again.',
    known: 'Its Ready condition. The kubelet may need a while to catch up.',
  },
  'ready-lost': {
    is: 'The readiness probe of the container failed while it was shutting down.',
    known: 'A status in which it runs and is not ready.',
    wrong: 'A terminating pod is not ready in its Services anyway; what changes is "serving".',
  },
  'first-failure': {
    is: 'The first request of a probe failed that a client might have sent.',
    known: 'The probe itself; 20 requests a second see no gap shorter than 0.05 s.',
    advice: 'See requests-lost.',
  },
  'last-failure': {
    is: 'The last request of a probe failed.',
    known: 'As first-failure. The run may have ended before the last failure.',
    advice: 'See requests-lost.',
  },
};

export const phaseTexts: Record<PhaseName, Explanation> = {
  accept: {
    is: 'From the request until the API server had set the deletionTimestamp.',
    known:
      'The clock of this machine, and the answer or the first change of the pod. With --attach nobody saw the request.',
    advice: 'Long: look at admission webhooks for DELETE and at the load of the API server.',
  },
  notice: {
    is: 'From the acceptance until the kubelet started termination.',
    known: 'The Killing Event (its name holds nanoseconds of the node) and the status that acknowledges the deletion.',
    advice: 'More than a second or two: the kubelet is busy, restarting, or cut off from the API server.',
  },
  'route-removal': {
    is: 'From the acceptance until no EndpointSlice listed the pod as ready.',
    known: 'The changes of the EndpointSlices.',
    wrong: proxiesLater,
    advice: 'Let a preStop sleep outlast your slowest proxy.',
  },
  prestop: {
    is: "A container's preStop hook. SIGTERM waits for it, and the grace period runs meanwhile.",
    known: 'From the Killing Event; the end is exact for a sleep, a failure, and a hook that the grace period ended.',
    wrong: 'A hook that succeeds leaves no trace: its end may be as wide as the whole exit.',
    advice: 'Raise the grace period by as much as the hook takes.',
  },
  'sidecar-wait': {
    is: 'A sidecar waits for the main containers before it gets its own stop signal.',
    known: 'From the start of termination to the last exit of the main containers, in whole seconds of the node.',
    advice: 'Nothing by itself. What the main containers use of the grace period is gone for sidecars.',
  },
  drain: {
    is: 'From SIGTERM to the exit of the container.',
    known: 'SIGTERM is inferred (see stop-signal); the exit comes from finishedAt and the end of the log.',
    advice: 'Long: finish requests sooner, close idle connections, or raise the grace period.',
  },
  overtime: {
    is: 'What a container took past its grace period: after a long preStop hook the kubelet leaves it 2 s.',
    known: 'The grace period from the start of termination, against the exit. deletionTimestamp is not that end.',
    advice: 'Hook and drain need more than the grace period: shorten them or raise it.',
  },
  cleanup: {
    is: "From the status that reported all containers terminated (containers-done) to the kubelet's last DELETE.",
    known: 'From that status to grace period 0, or to the removal. Volumes and cgroups are removed meanwhile.',
    advice: 'More than a few seconds: look at volume detach, the network plugin and the kubelet log of the node.',
  },
  finalize: {
    is: 'The terminated pod stays in the API because of its finalizers.',
    known: 'From the last DELETE of the kubelet to the removal. Which controller must act is not known.',
    advice: 'Find the controller behind the finalizer; remove it by hand only if its work is known to be done.',
  },
  replace: {
    is: 'From the creation of the replacement until it was ready.',
    known: 'The pods of the same workload. In a rollout one is paired with this pod, none is promised to it.',
    advice: 'Long: look at scheduling, image pulls and the readiness probe.',
  },
};
