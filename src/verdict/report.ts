/** The report of one exit, which every renderer gets. Rules of findings are tables, one per topic (findings/). Pure. */
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
import { outcomeWithoutDeletion, outcomesOf } from './outcome.ts';
import type { Policy } from './policy.ts';
import { evidenceOf, ranContainers, type RuleInput } from './rule-input.ts';

export interface Report {
  readonly timeline: Timeline;
  readonly verdict: JudgedVerdict;
  readonly answer: Answer;
  /** Absent if the recording does not contain it. */
  readonly run?: RunReport | undefined;
}

/** Undefined until the pod has been seen. */
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
  const outcomes = input ? outcomesOf(input) : [outcomeWithoutDeletion(trace)];
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

/** Most severe first, then in the order of `findingCodes`. */
function findingsOf(input: RuleInput): JudgedFinding[] {
  const { timeline } = input;
  const found = [
    ...ranContainers(timeline).flatMap((container) => {
      const about = { container: container.name, evidence: evidenceOf(timeline, container) };
      return containerRules.flatMap((rule) => rule(input, container) ?? []).map((result) => ({ ...about, ...result }));
    }),
    ...rules.flatMap((rule) => rule(input) ?? []),
  ];
  const weight = ({ severity, code }: JudgedFinding) =>
    -severities.indexOf(severity) * findingCodes.length + findingCodes.indexOf(code);
  return found
    .map((finding) => ({ ...finding, evidence: [...new Set(finding.evidence)] }))
    .sort((a, b) => weight(a) - weight(b));
}

/** The command that observed the exit. Undefined for older recordings and for raw ones. */
function runReportOf({ began, pod }: Trace): RunReport | undefined {
  const { command, version, context } = began?.value ?? {};
  if (!began || !pod || command === undefined || version === undefined) return undefined;
  const image = Object.fromEntries(imagesOf(pod.value));
  return { command, version, context, startedAt: printTime(began.at, 'earlier'), image };
}
