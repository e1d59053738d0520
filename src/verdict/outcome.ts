/** The outcome of an exit: the first that holds (docs/explain.md explains each). */
import { reportedExit } from '../infer/context.ts';
import type { ContainerTimeline } from '../infer/timeline.ts';
import { outcomes, type Outcome } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import { mayHaveCounted } from '../infer/deletion.ts';
import { overran } from '../infer/marks.ts';
import { mainContainers, ranContainers, wasForced, type RuleInput } from './rule-input.ts';

/** All outcomes that hold, in order. The first is the reported outcome; the exit code considers all. */
export const outcomesOf = (input: RuleInput): Outcome[] =>
  outcomes.filter((outcome) => outcome !== 'not-started' && holds[outcome](input));

/** `not-started`, but `unknown` if the pod is gone, its watch was lost, or a request may have been executed. */
export function outcomeWithoutDeletion(trace: Trace): Outcome {
  const mayHaveBegun = trace.gone !== undefined || isWatchLost(trace) || trace.requests.some(mayHaveCounted);
  return mayHaveBegun ? 'unknown' : 'not-started';
}

const hasMain = ({ timeline }: RuleInput, outcome: string): boolean =>
  mainContainers(timeline).some((container) => container.outcome === outcome);

const holds: Record<Exclude<Outcome, 'not-started'>, (input: RuleInput) => boolean> = {
  // Sidecars and ephemeral containers count too.
  forced: ({ timeline }) => wasForced(timeline),
  oom: (input) => hasMain(input, 'oom'),
  killed: (input) => hasMain(input, 'killed'),
  failed: (input) => hasMain(input, 'failed'),
  // A container whose end is unknown may have been killed, which is worse than `overran`.
  overran: (input) =>
    !hasMain(input, 'unknown') &&
    mainContainers(input.timeline).some(
      (main) =>
        main.outcome !== 'killed' &&
        (reportedExit(main)
          ? overran(main.graceEnd?.estimate, reportedExit(main)?.estimate) || isHookCutOff(main)
          : input.trace.gone !== undefined && isHookCutOff(main)),
    ),
  stuck: ({ trace }) => !trace.gone && trace.timedOut && !isWatchLost(trace),
  unknown: (input) => isEndUnknown(input) || !input.trace.gone || mayOnlyHaveOverrun(input),
  graceful: (input) => mainContainers(input.timeline).length > 0 || ranContainers(input.timeline).some(reportedExit),
  removed: () => true,
};

/** Nothing shows the end of some main container or, if none was running, of any other container. */
function isEndUnknown(input: RuleInput): boolean {
  if (mainContainers(input.timeline).length > 0) return hasMain(input, 'unknown');
  const others = ranContainers(input.timeline);
  return others.length > 0 && others.every((container) => container.outcome === 'unknown' && !reportedExit(container));
}

/** Something certain is at least as bad as a possible overrun. */
const mayOnlyHaveOverrun = (input: RuleInput): boolean =>
  mainContainers(input.timeline).some((main) => main.mayHaveOverrun) &&
  !(['forced', 'oom', 'killed', 'failed', 'overran'] as const).some((outcome) => holds[outcome](input));

/** The pod's watch was lost for good, and nothing but the answer to the DELETE has shown the pod since. */
function isWatchLost({ gaps, pod, requests }: Trace): boolean {
  const isAnswer = requests.some(({ answer }) => answer !== undefined && answer.seq === pod?.seq);
  const seenAt = pod && !isAnswer ? pod.at : -Infinity;
  return gaps.some(({ value: { stream, from, to } }) => stream === 'pod' && to === undefined && from >= seenAt);
}

const isHookCutOff = ({ preStop }: ContainerTimeline): boolean => preStop?.outcome === 'cut-off';
