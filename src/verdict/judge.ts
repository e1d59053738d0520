/** The verdict: outcome, findings, gates, exit code. Pure; rules stand in one table a topic (findings/). */
import { findingCodes, severities } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import { exitCodeOf } from './exit-code.ts';
import { inRow, type FindingDraft, type JudgedFinding, type JudgedVerdict } from './finding.ts';
import { evidenceFindings } from './findings/evidence.ts';
import { exitFindings, nearlySpentFindings } from './findings/exit.ts';
import { hookFindings } from './findings/hook.ts';
import { nodeFindings } from './findings/node.ts';
import { removalFindings } from './findings/removal.ts';
import { trafficFindings } from './findings/traffic.ts';
import { gateOf, withImpliedLoss } from './gates.ts';
import { outcomeUnseen, outcomesOf } from './outcome.ts';
import type { Policy } from './policy.ts';
import type { RuleInput } from './rule-input.ts';

/** `input` is absent while nobody was seen to delete the pod. */
export function judge(trace: Trace, input: RuleInput | undefined, policy: Policy): JudgedVerdict {
  const outcomes = input ? outcomesOf(input) : [outcomeUnseen(trace)];
  const outcome = outcomes[0] ?? 'unknown';
  const holding = outcomes.filter((one) => one !== 'graceful' && one !== 'removed');
  const findings = input ? findingsOf(input) : [];
  const gates = withImpliedLoss(
    trace,
    policy.gates.map((gate) => gateOf(gate, input, findings)),
  );
  const gatesFailed = gates.some((gate) => !gate.passed);
  const exitCode = exitCodeOf({
    outcomes: holding,
    gatesFailed,
    warnOnly: policy.warnOnly,
    interrupted: trace.interrupted?.value,
  });
  return { outcome, exitCode, findings, gates };
}

const rules: ((input: RuleInput) => FindingDraft[])[] = [
  exitFindings,
  nearlySpentFindings,
  hookFindings,
  trafficFindings,
  nodeFindings,
  removalFindings,
  evidenceFindings,
];

/** The gravest first; among equals in the order of the table of findings. */
function findingsOf(input: RuleInput): JudgedFinding[] {
  const weight = ({ severity, code }: JudgedFinding) =>
    -severities.indexOf(severity) * findingCodes.length + findingCodes.indexOf(code);
  return rules
    .flatMap((rule) => rule(input))
    .map(inRow)
    .sort((a, b) => weight(a) - weight(b));
}
