/** What podexit knows and thinks of one exit: every renderer is given this. Pure. */
import { conclusionsOf } from '../infer/conclude.ts';
import { timelineFrom } from '../infer/timeline-from.ts';
import type { Timeline } from '../infer/timeline.ts';
import type { RunReport } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import type { Answer } from './answer.ts';
import { answerOf } from './answer.ts';
import type { JudgedVerdict } from './finding.ts';
import { judge } from './judge.ts';
import type { Policy } from './policy.ts';
import { runReportOf } from './run-report.ts';

export interface Report {
  readonly timeline: Timeline;
  readonly verdict: JudgedVerdict;
  readonly answer: Answer;
  /** Absent where the recording does not say. */
  readonly run?: RunReport | undefined;
}

/** Undefined while not even the pod has been seen. */
export function reportOf(trace: Trace, policy: Policy = { gates: [], warnOnly: false }): Report | undefined {
  const conclusions = conclusionsOf(trace);
  if (!conclusions) return undefined;
  const timeline = timelineFrom(trace, conclusions);
  const input = conclusions.exit && { trace, timeline, exit: conclusions.exit };
  const verdict = judge(trace, input, policy);
  return { timeline, verdict, answer: answerOf(timeline, verdict, input), run: runReportOf(trace) };
}
