/** What podexit says of one exit: every renderer gets this. The rules of findings are tables, one for each topic (findings/). Pure. */
import { conclude } from '../infer/conclude.ts';
import type { Timeline } from '../infer/timeline.ts';
import { imagesOf } from '../model/pod.ts';
import { findingCodes, severities, type RunReport } from '../model/report.ts';
import { printTime } from '../model/stamps.ts';
import type { Trace } from '../model/trace.ts';
import { answerOf, type Answer } from './answer.ts';
import { exitCodeOf } from './exit-code.ts';
import type { ContainerRule, JudgedFinding, JudgedVerdict, Rule } from './finding.ts';
import { evidenceLost } from './findings/evidence.ts';
import { exitRules } from './findings/exit.ts';
import { hookRules } from './findings/hook.ts';
import { nodeRules } from './findings/node.ts';
import { removalRules } from './findings/removal.ts';
import { trafficRules } from './findings/traffic.ts';
import { gateOf, withImpliedLoss } from './gates.ts';
import { outcomeUnseen, outcomesOf } from './outcome.ts';
import type { Policy } from './policy.ts';
import { evidenceOf, ranIn, type RuleInput } from './rule-input.ts';

export interface Report {
  readonly timeline: Timeline;
  readonly verdict: JudgedVerdict;
  readonly answer: Answer;
  /** Absent where the recording does not say. */
  readonly run?: RunReport | undefined;
}

/** Undefined while not even the pod has been seen. */
export function reportOf(trace: Trace, policy: Policy = { gates: [], warnOnly: false }): Report | undefined {
  const concluded = conclude(trace);
  if (!concluded) return undefined;
  const { timeline, exit } = concluded;
  const input = exit && { trace, timeline, exit };
  const verdict = judge(trace, input, policy);
  return { timeline, verdict, answer: answerOf(timeline, verdict, input), run: runReportOf(trace) };
}

/** `input` is absent while no deletion was observed. */
function judge(trace: Trace, input: RuleInput | undefined, policy: Policy): JudgedVerdict {
  const outcomes = input ? outcomesOf(input) : [outcomeUnseen(trace)];
  const findings = input ? findingsOf(input) : [];
  const limits = policy.gates.map((gate) => gateOf(gate, input, findings));
  const gates = withImpliedLoss(trace, limits);
  const exitCode = exitCodeOf({
    outcomes,
    gatesFailed: gates.some((gate) => !gate.passed),
    warnOnly: policy.warnOnly,
    interrupted: trace.interrupted?.value,
  });
  return { outcome: outcomes[0] ?? 'unknown', exitCode, findings, gates };
}

const containerRules: readonly ContainerRule[] = [...exitRules, ...hookRules];
const rules: readonly Rule[] = [...trafficRules, ...nodeRules, ...removalRules, evidenceLost];

/** The gravest first; among equals in the order of the table of findings. */
function findingsOf(input: RuleInput): JudgedFinding[] {
  const { timeline } = input;
  const found = [
    ...ranIn(timeline).flatMap((container) => {
      const about = { container: container.name, evidence: evidenceOf(timeline, container) };
      return containerRules.flatMap((rule) => rule(input, container) ?? []).map((one) => ({ ...about, ...one }));
    }),
    ...rules.flatMap((rule) => rule(input) ?? []),
  ];
  const weight = ({ severity, code }: JudgedFinding) =>
    -severities.indexOf(severity) * findingCodes.length + findingCodes.indexOf(code);
  return found.map((one) => ({ ...one, evidence: [...new Set(one.evidence)] })).sort((a, b) => weight(a) - weight(b));
}

/** The command that observed it. Undefined in older recordings, and in raw ones. */
function runReportOf({ began, pod }: Trace): RunReport | undefined {
  const { command, version, context } = began?.value ?? {};
  if (!began || !pod || command === undefined || version === undefined) return undefined;
  const image = Object.fromEntries(imagesOf(pod.value));
  return { command, version, context, startedAt: printTime(began.at, 'earlier'), image };
}
