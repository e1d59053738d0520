/** The outcome of an exit: the first that holds (docs/explain.md explains each). */
import type { ContainerExit } from '../infer/context.ts';
import type { Outcome } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import { mayHaveCounted } from '../infer/deletion.ts';
import { overran } from '../infer/marks.ts';
import { mainExitsOf, ranExitsOf, type RuleInput } from './rule-input.ts';

/** All that hold, in order; the first is the outcome, and the exit code looks at all of them. */
export function outcomesOf(input: RuleInput): Outcome[] {
  return order.filter((outcome) => holds[outcome](input));
}

/**
 * Of a run that saw no deletion: the pod was not deleted (`--attach` waited in vain, or the pod ended by itself), unless it is
 * gone, its watch was lost, or a request to delete it was or may have been executed.
 */
export function outcomeUnseen(trace: Trace): Outcome {
  const mayHaveBegun = trace.gone !== undefined || isBlind(trace) || trace.requests.some(mayHaveCounted);
  return mayHaveBegun ? 'unknown' : 'not-started';
}

type Judged = Exclude<Outcome, 'not-started'>;

const order: Judged[] = ['forced', 'oom', 'killed', 'failed', 'overran', 'stuck', 'unknown', 'graceful', 'removed'];

const some = ({ exit }: RuleInput, outcome: string): boolean =>
  mainExitsOf(exit).some((one) => one.outcome === outcome);

const holds: Record<Judged, (input: RuleInput) => boolean> = {
  // Sidecars and ephemeral containers count too.
  forced: (input) => ranExitsOf(input.exit).some((one) => one.outcome === 'abandoned'),
  oom: (input) => some(input, 'oom'),
  killed: (input) => some(input, 'killed'),
  failed: (input) => some(input, 'failed'),
  // What is not known may have been a kill, and so may what is not known of its neighbours.
  overran: (input) =>
    !some(input, 'unknown') &&
    mainExitsOf(input.exit).some(
      (one) =>
        one.outcome !== 'killed' &&
        (ended(one) ? overran(one) || cutOff(one) : input.trace.gone !== undefined && cutOff(one)),
    ),
  stuck: ({ trace }) => !trace.gone && trace.timers.some((timer) => timer.value === 'timeout') && !isBlind(trace),
  unknown: (input) => isEndUnknown(input) || !input.trace.gone || (mayHaveOverrun(input) && !isBad(input)),
  graceful: (input) => mainExitsOf(input.exit).length > 0 || ranExitsOf(input.exit).some(ended),
  removed: () => true,
};

/** Nothing shows the end of a main container, or, where none of them ran, the end of any other. */
function isEndUnknown(input: RuleInput): boolean {
  if (mainExitsOf(input.exit).length > 0) return some(input, 'unknown');
  const others = ranExitsOf(input.exit);
  return others.length > 0 && others.every((one) => one.outcome === 'unknown' && !ended(one));
}

const mayHaveOverrun = (input: RuleInput): boolean => mainExitsOf(input.exit).some((one) => one.mayHaveOverrun);

/** What a doubt about the grace would add is no worse than what is certain. */
const isBad = (input: RuleInput): boolean =>
  (['forced', 'oom', 'killed', 'failed', 'overran'] as const).some((outcome) => holds[outcome](input));

/** The pod's stream was lost, never came back, and nothing showed the pod since. */
const isBlind = (trace: Trace): boolean =>
  trace.gaps.some(
    ({ value: { stream, from, to } }) => stream === 'pod' && to === undefined && from >= lastShownAt(trace),
  );

/** The answer to the DELETE shows where the end began, which says nothing of how it went on. */
function lastShownAt({ pod, requests }: Trace): number {
  const isAnswer = requests.some(({ answer }) => answer !== undefined && answer.seq === pod?.seq);
  return pod && !isAnswer ? pod.at : -Infinity;
}

const ended = ({ exit }: ContainerExit): boolean => exit !== undefined && !exit.provisional;

const cutOff = ({ hook }: ContainerExit): boolean => hook?.outcome === 'cut-off';
