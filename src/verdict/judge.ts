/** The verdict: outcome, findings, exit code. Pure; rules stand in one table a room (findings/). */
import type { Finding, Gate, Outcome, Verdict } from '../model/report.ts';
import { findingCodes, severities } from '../model/report.ts';
import type { Conclusions } from '../infer/conclusions.ts';
import type { Trace } from '../model/trace.ts';
import { exitCodeOf } from './exit-code.ts';
import { evidenceFindings } from './findings/evidence.ts';
import { exitFindings } from './findings/exit.ts';
import { hookFindings } from './findings/hook.ts';
import { nearlySpentFindings } from './findings/nearly-spent.ts';
import { nodeFindings } from './findings/node.ts';
import { removalFindings } from './findings/removal.ts';
import { requestFindings } from './findings/request.ts';
import { trafficFindings } from './findings/traffic.ts';
import { withImpliedLoss } from './max-lost.ts';
import { outcomeUnseen, outcomesOf } from './outcome.ts';
import type { Scene } from './scene.ts';

/** A gate of a pipeline: judged on what the verdict says otherwise. */
export type GateRule = (scene: Scene | undefined, outcome: Outcome, findings: readonly Finding[]) => Gate;

export interface Policy {
  readonly gates: readonly GateRule[];
  readonly warnOnly: boolean;
}

export const noPolicy: Policy = { gates: [], warnOnly: false };

export function judge(trace: Trace, timeline: Conclusions, policy: Policy = noPolicy): Verdict {
  const scene = timeline.exit && { trace, timeline, exit: timeline.exit };
  const outcomes = scene ? outcomesOf(scene) : [outcomeUnseen(trace)];
  const outcome = outcomes[0] ?? 'unknown';
  const holding = outcomes.filter((one) => one !== 'graceful' && one !== 'removed');
  const findings = scene ? findingsOf(scene) : [];
  const gates = withImpliedLoss(
    trace,
    policy.gates.map((gate) => gate(scene, outcome, findings)),
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

const rules: ((scene: Scene) => Finding[])[] = [
  exitFindings,
  nearlySpentFindings,
  hookFindings,
  trafficFindings,
  nodeFindings,
  removalFindings,
  requestFindings,
  evidenceFindings,
];

/** The gravest first; among equals in the order of the table of findings. */
function findingsOf(scene: Scene): Finding[] {
  const weight = ({ severity, code }: Finding) =>
    -severities.indexOf(severity) * findingCodes.length + findingCodes.indexOf(code);
  return rules.flatMap((rule) => rule(scene)).sort((a, b) => weight(a) - weight(b));
}
