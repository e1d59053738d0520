import type { ExitReport } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

const missed = 'It says that something may have been missed, not that anything was.';
const rerun = 'Nothing, where no finding says `evidence-lost`; else trace another pod, from closer to the cluster.';

export type GapWord = ExitReport['gaps'][number]['cause'];

/** Why a stretch of a stream, or a clock, tells less than all (trace/observation.ts, docs/resilience.md). */
export const gapTexts: Record<GapWord, Explanation> = {
  expired: {
    is: 'The history of a stream was gone when the stream was to go on: what changed in between is not known.',
    known: 'The API server answered 410, and the state was listed anew, which ends the gap.',
    wrong: `${missed} What came and went in between left no trace at all.`,
    advice: `${rerun} Where it comes again and again the API server is overloaded, or keeps little history.`,
  },
  disconnected: {
    is: 'The connection of a stream was lost, and what came meanwhile may never have arrived.',
    known:
      'It did not come back from where it was, or was still away, or silent with nobody to answer for it, when the run ended; a log broke eight times without a new line in between.',
    wrong: missed,
    advice: `${rerun} Proxies and load balancers that cut idle connections are the usual cause.`,
  },
  'not-synced': {
    is: 'A stream was not open when the DELETE had to be sent, 3 s after the pod had been read, or when the deletion began.',
    known: 'Its first list, or the first answer to its request, had not come by then; the gap ends where it came.',
    wrong: missed,
    advice: `${rerun} An API server that needs seconds for a list is the usual cause.`,
  },
  behind: {
    is: 'A server behind the same address knew less than had already arrived, for so long that its state was taken.',
    known: 'The resourceVersions that it lists are older than those which were seen.',
    wrong: `${missed} After etcd was restored from a backup the older state is the truth.`,
    advice: 'Look whether all API servers behind the address are in sync, or whether etcd was restored.',
  },
  refused: {
    is: 'The API server refused a stream, so that one lane is missing.',
    known: 'Its answer: 403, or 404 for a log whose pod is there. It lasts until the end.',
    wrong: 'A right that was granted later is not asked for again.',
    advice: 'Grant the right that is named on stderr (deploy/rbac.yaml); `pods/log` bounds the exits best.',
  },
  late: {
    is: 'Nothing is missing, but what arrived then may be as old as the beginning of the gap.',
    known:
      'A stream was cut and went on from where it was, its server was behind, or this process stood still, each for more than a second.',
    wrong: 'What rests on it is dated as wide as that, even where it came at once.',
    advice: 'Nothing.',
  },
  'clock-stepped': {
    is: "A clock, the API server's or the node's, was set during the trace, at some time within the gap.",
    known: 'Its stamps from before and from after contradict each other, by causality or by their order.',
    wrong: 'A step that is smaller than what is known of the clock stays unseen.',
    advice: 'Look at the time service of that machine; leases and certificates depend on it as well.',
  },
  'clock-doubtful': {
    is: 'A clock may have been set, so that its stamps prove nothing alone.',
    known:
      "A container's end is stamped 3.5 s or more before both its log ended and its status came, a Killing before the deletion that it followed, or a deletion of somebody else before what it must have come after.",
    wrong:
      'A kubelet, or a host, that stood still for as long looks the same. Instants are wider then, and an outcome may be `unknown` that is none.',
    advice: 'Look at the time service of that machine, and whether it was short of processor time or of disk.',
  },
};
