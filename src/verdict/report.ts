/** The report of one exit, which every renderer gets. Rules of findings are tables, one per topic (findings/). Pure. */
import { conclude } from '../infer/conclude.ts';
import type { Timeline, ContainerTimeline } from '../infer/timeline.ts';
import type { WithOptional } from '../model/observe/read.ts';
import { imagesOf } from '../model/pod.ts';
import { findingCodes, severities, outcomes, type RunReport, type Outcome } from '../model/report.ts';
import { printTime } from '../model/stamps.ts';
import type { Trace } from '../model/trace.ts';
import { answerOf, type ExitAnswer } from './answer.ts';
import { exitCodeOf, type Policy } from './policy.ts';
import type { Evidence, JudgedFinding, JudgedVerdict, Rules } from './finding.ts';
import { evidenceRules } from './findings/evidence.ts';
import { containerRules } from './findings/containers.ts';
import { nodeRules } from './findings/node.ts';
import { removalRules } from './findings/removal.ts';
import { trafficRules } from './findings/traffic.ts';
import { gateOf, withImpliedLoss } from './gates.ts';
import { loweredGrace, probesFailed, ranContainers, mainContainers, wasForced, type RuleInput } from './rule-input.ts';
import { ledgerOf } from './ledger.ts';
import { reportedExit } from '../infer/context.ts';
import { mayHaveCounted } from '../infer/deletion.ts';
import { overran } from '../infer/marks.ts';

/** A report before it is known what to change (advice/report.ts). */
export type JudgedExit = Readonly<WithOptional<NonNullable<ReturnType<typeof judgedExit>>>>;

export interface Report extends Omit<JudgedExit, 'answer'> {
  readonly answer: ExitAnswer;
}

/** Undefined until the pod has been seen. */
export function judgedExit(trace: Trace, policy: Policy) {
  const concluded = conclude(trace);
  if (!concluded) return undefined;
  const { timeline, context } = concluded;
  const input = context && { ...context, timeline };
  const verdict = judge(trace, timeline, input, policy);
  const ledger = ledgerOf(input, new Set(verdict.findings.map(({ code }) => code)));
  const answer = answerOf(timeline, verdict, input);
  const [lowered, failed] = [input && loweredGrace(input), probesFailed(trace, timeline.pod)];
  return { timeline, verdict, answer, ledger, lowered, probesFailed: failed, run: runReportOf(trace) };
}

function judge(trace: Trace, timeline: Timeline, input: RuleInput | undefined, policy: Policy): JudgedVerdict {
  const outcomes = input ? outcomesOf(input) : [outcomeWithoutDeletion(trace)];
  const findings = input ? findingsOf(input) : [];
  // What a run over several pods loses is judged once, for the whole run.
  const isShared = timeline.probes.some(({ otherPods }) => otherPods !== undefined);
  const own = policy.gates.filter(({ kind }) => !isShared || kind !== 'max-lost');
  const judged = own.map((gate) => gateOf(gate, input, findings));
  const gates = isShared ? judged : withImpliedLoss(timeline.probes, judged);
  const exitCode = exitCodeOf({
    outcomes,
    gatesFailed: gates.some((gate) => !gate.passed),
    warnOnly: policy.warnOnly,
    interrupted: trace.interrupted?.value,
  });
  return { outcome: outcomes[0] ?? 'unknown', exitCode, findings, gates };
}

const rules: Rules = { ...trafficRules, ...nodeRules, ...removalRules, ...evidenceRules };

/** Most severe first, then in the order of `findingCodes`. */
function findingsOf(input: RuleInput): JudgedFinding[] {
  const found = findingCodes.flatMap((code) => [
    ...ranContainers(input.timeline).flatMap((container) => {
      const result = containerRules[code]?.(input, container) ?? [];
      const { name, stopping, stopSignal, kill, exit } = container;
      const evidence = [stopping, stopSignal, kill, exit?.at].map((interval) => interval?.evidence);
      return [result].flat().map((one) => ({ code, container: name, evidence, ...one }));
    }),
    ...[rules[code]?.(input) ?? []].flat().map((one) => ({ code, ...one })),
  ]);
  return found
    .map((one): JudgedFinding => {
      const { severity = 'warning', message = one.clause ?? '' } = one;
      return { ...one, severity, message, evidence: [...new Set(seqsIn(one.evidence))] };
    })
    .sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
}

const seqsIn = (evidence: Evidence): number[] =>
  typeof evidence === 'number' ? [evidence] : (evidence ?? []).flatMap(seqsIn);

/** The command that observed the exit. Undefined for older recordings and for raw ones. */
function runReportOf({ began, pod }: Trace): RunReport | undefined {
  const { command, version, context } = began?.value ?? {};
  if (!began || !pod || command === undefined || version === undefined) return undefined;
  const image = Object.fromEntries(imagesOf(pod.value));
  return { command, version, context, startedAt: printTime(began.at, 'earlier'), image };
}

/** All outcomes that hold, in order. The first is the reported outcome; the exit code considers all. */
const outcomesOf = (input: RuleInput): Outcome[] =>
  outcomes.filter((outcome) => outcome !== 'not-started' && holds[outcome](input));

/** `not-started`, but `unknown` if the pod is gone, its watch was lost, or a request may have been executed. */
function outcomeWithoutDeletion(trace: Trace): Outcome {
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
