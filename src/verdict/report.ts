/** What podexit knows and thinks of one exit: every renderer is given this. Pure. */
import { conclude } from '../infer/conclude.ts';
import type { Timeline } from '../infer/timeline.ts';
import type { RunReport } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import { answerOf, type Answer } from './answer.ts';
import type { JudgedVerdict } from './finding.ts';
import { judge } from './judge.ts';
import type { Policy } from './policy.ts';
import { imagesOf } from '../model/pod.ts';
import { printTime } from '../model/stamps.ts';

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

/** How it came to be. Undefined where nobody noted it: in older recordings, and in raw ones. */
function runReportOf({ began, pod }: Trace): RunReport | undefined {
  const { command, version, context } = began?.value ?? {};
  if (!began || !pod || command === undefined || version === undefined) return undefined;
  const image = Object.fromEntries(imagesOf(pod.value));
  return { command, version, context, startedAt: printTime(began.at, 'earlier'), image };
}
