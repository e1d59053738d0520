/** The outcome of an exit: the first that holds (docs/explain.md explains each). */
import { reportedExit, type ContainerExit } from '../infer/context.ts';
import { outcomes, type Outcome } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import { mayHaveCounted } from '../infer/deletion.ts';
import { overran } from '../infer/marks.ts';
import { mainExitsOf, ranExitsOf, type RuleInput } from './rule-input.ts';

/** All outcomes that hold, in order. The first is the reported outcome; the exit code considers all. */
export const outcomesOf = (input: RuleInput): Outcome[] =>
  outcomes.filter((outcome) => outcome !== 'not-started' && holds[outcome](input));

/**
 * The outcome of a run that saw no deletion: `not-started` (`--attach` waited in vain, or the pod ended by itself), but
 * `unknown` if the pod is gone, its watch was lost, or a request to delete it was or may have been executed.
 */
export function outcomeWithoutDeletion(trace: Trace): Outcome {
  const mayHaveBegun = trace.gone !== undefined || isWatchLost(trace) || trace.requests.some(mayHaveCounted);
  return mayHaveBegun ? 'unknown' : 'not-started';
}

const hasMain = ({ exit }: RuleInput, outcome: string): boolean =>
  mainExitsOf(exit).some((container) => container.outcome === outcome);

const holds: Record<Exclude<Outcome, 'not-started'>, (input: RuleInput) => boolean> = {
  // Sidecars and ephemeral containers count too.
  forced: (input) => ranExitsOf(input.exit).some(({ outcome }) => outcome === 'abandoned'),
  oom: (input) => hasMain(input, 'oom'),
  killed: (input) => hasMain(input, 'killed'),
  failed: (input) => hasMain(input, 'failed'),
  // A container whose end is unknown may have been killed, which is worse than `overran`.
  overran: (input) =>
    !hasMain(input, 'unknown') &&
    mainExitsOf(input.exit).some(
      (main) =>
        main.outcome !== 'killed' &&
        (reportedExit(main)
          ? overran(main) || isHookCutOff(main)
          : input.trace.gone !== undefined && isHookCutOff(main)),
    ),
  stuck: ({ trace }) => !trace.gone && trace.timedOut && !isWatchLost(trace),
  unknown: (input) => isEndUnknown(input) || !input.trace.gone || (mayHaveOverrun(input) && !isBad(input)),
  graceful: (input) => mainExitsOf(input.exit).length > 0 || ranExitsOf(input.exit).some(reportedExit),
  removed: () => true,
};

/** Nothing shows the end of some main container or, if none was running, of any other container. */
function isEndUnknown(input: RuleInput): boolean {
  if (mainExitsOf(input.exit).length > 0) return hasMain(input, 'unknown');
  const others = ranExitsOf(input.exit);
  return others.length > 0 && others.every((container) => container.outcome === 'unknown' && !reportedExit(container));
}

const mayHaveOverrun = (input: RuleInput): boolean => mainExitsOf(input.exit).some((main) => main.mayHaveOverrun);

/** Something certain is at least as bad as a possible overrun. */
const isBad = (input: RuleInput): boolean =>
  (['forced', 'oom', 'killed', 'failed', 'overran'] as const).some((outcome) => holds[outcome](input));

/** The pod's watch was lost for good, and nothing has shown the pod since. */
const isWatchLost = (trace: Trace): boolean =>
  trace.gaps.some(
    ({ value: { stream, from, to } }) => stream === 'pod' && to === undefined && from >= podLastSeenAt(trace),
  );

/** The answer to the DELETE does not count: it shows only how the termination began. */
function podLastSeenAt({ pod, requests }: Trace): number {
  const isAnswer = requests.some(({ answer }) => answer !== undefined && answer.seq === pod?.seq);
  return pod && !isAnswer ? pod.at : -Infinity;
}

const isHookCutOff = ({ hook }: ContainerExit): boolean => hook?.outcome === 'cut-off';
