/** The command `recommend`: reports of many exits → grace periods. */
import { PodexitError } from '../../errors.ts';
import type { Ports } from '../../run/ports.ts';
import type { OutputOptions } from '../output.ts';
import { publish } from '../output.ts';
import type { Recommendation } from './recommend.ts';
import { recommendationsFor } from './recommend.ts';
import type { RecommendReport } from './recommend-text.ts';
import { recommendHtml, recommendMarkdown, recommendText, tooFewText } from './recommend-text.ts';
import type { Replay } from './reports.ts';
import { readReports, sampleOf } from './reports.ts';

/** What `--fail-on` takes. */
export type RecommendFailOn = 'raise' | 'lower' | 'killed' | 'lost';

export interface RecommendOptions extends OutputOptions {
  names: readonly string[];
  failOn: readonly RecommendFailOn[];
  replay: Replay;
}

/** 0, or 5 for --fail-on. Throws `recommend.few` where no workload was seen often enough. */
export async function recommend(options: RecommendOptions, ports: Ports): Promise<number> {
  const samples = (await readReports(options.names, options.replay)).map(sampleOf);
  const { found, tooFew } = recommendationsFor(samples);
  const [few] = tooFew;
  if (found.length === 0)
    throw new PodexitError(
      'recommend.few',
      few ? `${few.workload}: ${tooFewText(few.exits)}` : 'these reports hold no exit that had a grace period',
      'Collect more: kubectl podexit deployment/NAME --all-terminating -o json during a rollout.',
    );
  const failed = found.some((one) => options.failOn.some((word) => fails[word](one)));
  const exitCode = failed ? 5 : 0;
  const summary = found.map(({ workload, sentence }) => `${workload}: ${sentence}`).join('; ');
  const content = { kind: 'RecommendReport', summary, workloads: found, tooFew, verdict: { exitCode } } as const;
  const views = { text: recommendText, others: { markdown: recommendMarkdown, html: recommendHtml } };
  return publish<RecommendReport>(content, { command: 'recommend' }, views, options, ports);
}

const fails: Record<RecommendFailOn, (one: Recommendation) => boolean> = {
  raise: ({ grace }) => grace.direction === 'raise' || grace.direction === 'not-by-grace',
  lower: ({ grace }) => grace.direction === 'lower',
  killed: ({ killed }) => killed.count > 0,
  lost: ({ requests }) => (requests?.failed ?? 0) > 0,
};
