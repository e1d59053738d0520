/** What the gates of a pipeline, the gaps of the evidence and the assumptions mean. */
import { assumptions, type AssumptionName } from '../../model/assumptions.ts';
import type { GapReport } from '../../model/report.ts';
import type { GateSpec } from '../policy.ts';
import type { Explanation } from './explanation.ts';

const unproved = 'It also fails where the evidence does not prove that the limit was kept; its sentence says so.';

/** The limits of verdict/gates.ts (docs/gates.md), and those that only a check has. */
export const gateTexts: Record<GateSpec['kind'] | 'disruption-budget' | 'timeout', Explanation> = {
  'max-duration': {
    is: 'A limit on the whole exit: from the request (or its acceptance) until the pod was gone.',
    known: 'The clock of this machine, and the arrival of the removal.',
    wrong: unproved,
    advice: 'Look at the longest phase (-v). Leave a second or two for the cleanup.',
  },
  'max-grace-used': {
    is: 'A limit on the share of the grace period that the slowest container used.',
    known: 'From the start of its termination to its exit, against the shortest grace period it may have used.',
    wrong: unproved,
    advice: 'Make that container exit sooner, or raise the grace period; access to pods/log narrows the proof.',
  },
  'min-drain-lead': {
    is: 'A limit on how long before SIGTERM the pod had left each of its Services.',
    known:
      'The EndpointSlice and the inferred SIGTERM, of every Service and container that serves it. Without a Service it passes.',
    wrong: unproved,
    advice: 'Add a preStop sleep that is longer, and raise the grace period by as much.',
  },
  'max-lost': {
    is: 'A limit on the requests of probes that failed, as a number or a share. --probe implies 0, 100% switches it off.',
    known: 'The probes count their own requests (docs/traffic.md); those of `pod` and those not measured do not count.',
    wrong: 'No failure of 400 requests proves no loss among 400,000. It fails where no request was measured.',
    advice: 'See requests-lost.',
  },
  'fail-on': {
    is: 'A finding that may not be in the report: --fail-on drain-race fails where that finding is.',
    known: 'The findings of the report, whatever their severity.',
    wrong: 'What could not be observed is no finding: see evidence-lost.',
    advice: 'See the page of the finding.',
  },
  'disruption-budget': {
    is: 'A check (`check`): a PodDisruptionBudget allows one more disruption.',
    known: 'status.disruptionsAllowed of the budgets that cover the pod; it changes with every sibling.',
    advice: 'Wait for healthy siblings, use --evict --retry-evict, or let the budget allow one more.',
  },
  timeout: {
    is: 'A check (`check`): --timeout is longer than the grace period, so that a healthy exit is not called stuck.',
    known: 'The grace period that is asked for, or that of the pod. What comes after it is not counted.',
    advice: 'Allow a minute or two more than the grace period; the default is grace period plus 120 s.',
  },
};

const rerun = 'Nothing, where no finding says evidence-lost; else trace another pod from closer to the cluster.';

/** Causes of gaps: why a stream or a clock shows less than everything for a time (docs/resilience.md). */
export const gapTexts: Record<GapReport['cause'], Explanation> = {
  expired: {
    is: 'The history of a stream was gone when it was to continue: changes in between are not known.',
    known: 'The API server answered 410, and the state was listed again.',
    advice: `${rerun} If it repeats, the API server is overloaded or keeps little history.`,
  },
  disconnected: {
    is: 'The connection of a stream was lost, and changes may be missing.',
    known: 'It did not continue from where it was, or not before the end of the run.',
    advice: `${rerun} Proxies that cut idle connections are the usual cause.`,
  },
  'not-synced': {
    is: 'A stream was not open yet when the pod was deleted.',
    known: 'Its first list had not arrived. The gap ends when it did.',
    advice: `${rerun} An API server that needs seconds for a list is the usual cause.`,
  },
  behind: {
    is: 'A server behind the same address knew less than had already arrived.',
    known: 'It listed older resourceVersions. After a restore of etcd the older state is the truth.',
    advice: 'Check that all API servers behind the address are in sync.',
  },
  refused: {
    is: 'The API server refused a stream, which is missing to the end.',
    known: 'Its answer: 403, or 404 for the log of a pod that exists.',
    advice: 'Grant the right that is named on stderr (deploy/rbac.yaml); pods/log matters most for exits.',
  },
  late: {
    is: 'Nothing is missing, but what arrived may be as old as the start of the gap.',
    known: 'A stream was cut and continued, its server was behind, or this process paused, for more than a second.',
  },
  'clock-stepped': {
    is: 'The clock of the API server or of the node was set during the trace.',
    known: 'Its stamps from before and after contradict each other. Small steps stay unseen.',
    advice: 'Look at the time service of that machine.',
  },
  'clock-doubtful': {
    is: 'A clock may have been set, so that its stamps prove nothing alone.',
    known: 'An end is stamped 3.5 s before its log and its status ended, or a stamp precedes what it must follow.',
    wrong: 'A kubelet or host that paused for as long looks the same; intervals are wider then.',
    advice: 'Look at the time service of that machine, and at its CPU and disk load.',
  },
};

const wider = 'If your cluster exceeds it, intervals may be too narrow: please report it.';
const look = 'Nothing, unless a moment contradicts what you know: then see whether -v names this.';

const signalSent = "From the kubelet's call to the delivery of the signal";

/** `known`: what else is known about the assumption. */
const assumed: Record<AssumptionName, Pick<Explanation, 'is'> & Partial<Explanation>> = {
  'clock-drift': {
    is: 'How much two clocks drift apart in each second.',
    known: 'NTP slews by at most 0.0005 s per second.',
    wrong: 'A clock that is set steps instead: see clock-stepped.',
  },
  'signal-lag': { is: `${signalSent}, with containerd.`, known: 'Measured: 0.001 to 0.006 s.', wrong: wider },
  'signal-lag-exec': {
    is: `${signalSent}, where the runtime starts a process for it (CRI-O, docker).`,
    wrong: wider,
  },
  'signal-lag-sandboxed': {
    is: `${signalSent}, through the guest of a sandboxed runtime (runtimeClass).`,
    wrong: wider,
  },
  'log-stamp-lag': {
    is: 'How long after it was written the runtime stamps a log line.',
    wrong: 'A runtime short of CPU stamps later, and an app that buffers its output writes later.',
  },
  'kill-lag': {
    is: 'How soon after SIGKILL a process has ended.',
    wrong: 'A process that waits for a disk ends later, so that its SIGKILL came earlier than reported.',
  },
  'silent-kill': {
    is: 'An app without any reaction to SIGTERM that ended with 137 as its grace period ended was killed by the kubelet.',
    wrong: 'One that chooses to exit 137 in that very second looks the same.',
  },
  'log-end': { is: 'How soon after its container a log ends, where no status reports the exit.', wrong: wider },
  'event-lag': {
    is: 'How soon after its stamp the kubelet posts an Event or renews its Lease.',
    known: 'Dropped where an arrival contradicts it.',
    wrong: 'A paused node posts later; this is used only where something shows that it ran.',
  },
  'delivery-lag': {
    is: 'How long after it was written a change arrives here on a live stream.',
    known: 'Where stamps prove that a change took longer, what they allow counts, at most 15 s.',
    wrong: 'An API server or network under great load takes longer, and no stamp shows it.',
  },
  'kill-at-once': {
    is: 'Without Events: how soon after it acknowledged the deletion the kubelet asks for the stop signal.',
    wrong: 'A kubelet that pauses or restarts just then sends it later.',
    advice: 'Grant list and watch on events: the Killing Event gives the moment.',
  },
  'server-skew': {
    is: 'How far the clocks of the API servers of one control plane are apart.',
    known: 'NTP keeps them to milliseconds.',
    wrong: 'Servers further apart may make our DELETE look like one that came too late.',
    advice: 'Keep the clocks of the control plane in step (NTP).',
  },
};

export const assumptionNames = Object.keys(assumed) as AssumptionName[];

/** The explanation of an assumption (model/assumptions.ts), which the API neither shows nor proves. */
export function assumptionText(name: AssumptionName): Explanation {
  const { known, ...text } = assumed[name];
  const bound = `An assumption: at most ${assumptions[name]} s${name === 'clock-drift' ? ' per second' : ''}. -v lists those that a report used.`;
  return { advice: look, ...text, known: known === undefined ? bound : `${bound} ${known}` };
}
