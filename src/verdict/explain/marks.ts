import type { MarkName } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

const nothing = 'Nothing.';

/** What the points of a timeline are: the words that lines show for them stand in render/mark-words.ts. */
export const markTexts: Record<MarkName, Explanation> = {
  requested: {
    is: 'The DELETE, or the eviction, left this command.',
    known: 'Our own clock.',
    wrong: 'It says when it was sent, not when anybody read it.',
    advice: nothing,
  },
  accepted: {
    is: 'The API server marked the pod with a deletionTimestamp, or removed the object at once.',
    known:
      "The answer to the request or the first watch line bounds it from above; the deadline minus the grace tells the second on the API server's clock.",
    wrong: 'deletionTimestamp is a deadline, not this moment, and a later DELETE rewrites it.',
    advice: nothing,
  },
  acknowledged: {
    is: "The first sign of the kubelet that it knows of the deletion: a status (the pod's observedGeneration), or a Killing Event.",
    known: 'The arrival of whichever came first.',
    wrong:
      "Before Kubernetes 1.35 the status has no such field, and a probe's result may be written before the kubelet begins.",
    advice: 'Where it is missing for seconds, see node-silent and slow-start.',
  },
  unrouted: {
    is: 'An EndpointSlice stopped calling the pod ready: clients that follow it send no new requests from then on.',
    known: "Arrival of the slice's change.",
    wrong: 'Proxies, meshes and load balancers act on it later, each in its own time.',
    advice: 'Where the stop signal comes first, see drain-race.',
  },
  'endpoint-removed': {
    is: 'The EndpointSlice no longer lists the pod, not even as terminating.',
    known: "Arrival of the slice's change.",
    wrong: 'Connections that are open by then last until one end closes them.',
    advice: nothing,
  },
  stopping: {
    is: 'The kubelet began to stop the container: its preStop hook starts, or the stop signal is next.',
    known: "The Killing Event, whose name carries the kubelet's nanoseconds.",
    wrong: 'Events may be dropped or merged by a kubelet that had much to tell; then other facts bound it.',
    advice: 'Long after the acceptance: see slow-start.',
  },
  'prestop-ended': {
    is: 'The preStop hook was over: completed, failed, or cut off when the grace ended.',
    known: 'The length of a sleep, a FailedPreStopHook Event, the end of the grace, or the exit that came after it.',
    wrong: 'A hook that succeeds leaves no trace, so its end may be as wide as the whole exit.',
    advice: 'See prestop-heavy and prestop-cut-off.',
  },
  'stop-signal': {
    is: 'The container runtime sent the stop signal (SIGTERM, unless the image or the pod names another) to PID 1.',
    known:
      'Nothing in the API tells it: it follows from Killing, the end of the hook, and a log line that names the signal.',
    wrong:
      'A container that ended before its turn was sent none: then there is no such mark. One that ended by itself less than a second before its turn, while its kubelet still took it for running, cannot be distinguished from one that obeyed at once; neither can one that its own preStop hook ended just then.',
    advice: 'Where nothing follows it until the kill, see no-signal-handling.',
  },
  kill: {
    is: 'The container runtime sent SIGKILL, since the container still ran when its grace was over.',
    known: "Exit code 137 at a time that fits the end of the grace, counted from the kubelet's own start.",
    wrong: '137 alone proves nothing. Without a status that tells it there is no such mark.',
    advice: 'See killed-at-grace.',
  },
  exited: {
    is: "The container's main process had ended.",
    known:
      "finishedAt in its status (a whole second of the node's clock), narrowed by its log, its signal and its kill.",
    wrong:
      'Statuses come late and all at once; until then the end of the log is taken for the exit, and the line says "probably".',
    advice: 'The code stands behind it; see the outcomes of containers.',
  },
  'containers-done': {
    is: 'The kubelet reported the end of all containers in one status.',
    known: 'The arrival of that status.',
    wrong: 'It is when it was reported: the exits came before it, at times by seconds.',
    advice: nothing,
  },
  'final-delete': {
    is: 'The kubelet had cleaned up and sent its own DELETE with grace 0.',
    known: 'The state with deletionGracePeriodSeconds 0, or the removal.',
    wrong: 'Where finalizers are set the object stays all the same.',
    advice: 'Long after containers-done: see slow-cleanup.',
  },
  finalizing: {
    is: 'Nothing but finalizers keeps the object in the API.',
    known: 'A state with grace 0 that still lists them.',
    wrong: 'Which controller has to act is not known.',
    advice: 'See finalizer-held.',
  },
  removed: {
    is: 'The object was gone from the API: its name is free.',
    known: 'DELETED on the watch, or a list or a GET without it.',
    wrong: 'After a force, containers may run on.',
    advice: nothing,
  },
  'replacement-created': {
    is: 'A pod of the same workload came that may take the place of this one.',
    known: "Its creationTimestamp and its arrival on the workload's watch.",
    wrong:
      'In a rollout several come at once, and none is promised to this one: the first after the deletion is named, or the only one of the new template that came before it, once the pod is gone. None is where it was scaled away, or its controller deleted it and nothing tells what for.',
    advice: nothing,
  },
  'replacement-scheduled': {
    is: 'The replacement had a node.',
    known: 'Its PodScheduled condition.',
    wrong: 'Known in whole seconds.',
    advice: 'Long after its creation: look at requests, affinity and quotas.',
  },
  'replacement-started': {
    is: 'All main containers of the replacement ran.',
    known: 'startedAt in its status.',
    wrong: 'Running is not ready.',
    advice: 'Long after it was scheduled: look at image pulls and init containers.',
  },
  'replacement-ready': {
    is: 'The replacement was Ready: from then on Services send requests to it.',
    known: 'Its Ready condition, as it arrived.',
    wrong: 'Proxies learn of it later.',
    advice: 'Long after its start: look at the readiness probe.',
  },
  'node-not-ready': {
    is: 'The node became NotReady: its kubelet was not heard of for a while.',
    known: "The node's Ready condition, or a NodeNotReady Event.",
    wrong: 'The node controller waits for 40 to 50 s before it says so.',
    advice: 'See node-silent.',
  },
  'node-ready': {
    is: 'The node was Ready again.',
    known: "The node's Ready condition.",
    wrong: 'The kubelet may need a while to catch up.',
    advice: nothing,
  },
  'ready-lost': {
    is: "The container's readiness probe failed while it was exiting.",
    known: 'A status in which it runs and is not ready.',
    wrong: 'Endpoints of a terminating pod are not ready anyway: what changes is whether they are called serving.',
    advice: nothing,
  },
  'first-failure': {
    is: 'The first request of a probe failed that a client might have sent.',
    known:
      'The probe counts its own requests; one that timed out failed when it was sent, any other when that was known.',
    wrong: 'What failed between two requests of the probe is not seen: 20 a second see nothing shorter than 0.05 s.',
    advice: 'See requests-lost.',
  },
  'last-failure': {
    is: 'The last request of a probe failed.',
    known: 'As first-failure.',
    wrong: 'The run may have ended before the last request failed.',
    advice: 'See requests-lost.',
  },
};
