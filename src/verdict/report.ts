/** The report of one exit, which every renderer gets. Rules of findings are tables, one per topic (findings/). Pure. */
import { conclude } from '../infer/conclude.ts';
import type { Timeline } from '../infer/timeline.ts';
import type { WithOptional } from '../model/observe/read.ts';
import { imagesOf } from '../model/pod.ts';
import { findingCodes, severities, type RunReport } from '../model/report.ts';
import { printTime } from '../model/stamps.ts';
import type { Trace } from '../model/trace.ts';
import { answerOf, type ExitAnswer } from './answer.ts';
import { exitCodeOf } from './exit-code.ts';
import type { ContainerRules, Evidence, JudgedFinding, JudgedVerdict, Rules } from './finding.ts';
import { evidenceRules } from './findings/evidence.ts';
import { exitRules } from './findings/exit.ts';
import { hookRules } from './findings/hook.ts';
import { nodeRules } from './findings/node.ts';
import { removalRules } from './findings/removal.ts';
import { trafficRules } from './findings/traffic.ts';
import { gateOf, withImpliedLoss } from './gates.ts';
import { loweredGrace } from './grace.ts';
import { ledgerOf } from './ledger.ts';
import { outcomeWithoutDeletion, outcomesOf } from './outcome.ts';
import type { Policy } from './policy.ts';
import { probesFailed, ranContainers, type RuleInput } from './rule-input.ts';

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

const containerRules: ContainerRules = { ...exitRules, ...hookRules };
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
