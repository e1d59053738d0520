/** All that can be explained, in the order of the docs. */
import type { AssumptionName } from '../../trace/assumptions.ts';
import { containerOutcomes, findingCodes, markNames, outcomes, phaseNames } from '../../trace/report.ts';
import { assumptionTexts } from './assumptions.ts';
import type { Explanation } from './explanation.ts';
import { findingTexts } from './findings.ts';
import { markTexts } from './marks.ts';
import { containerTexts, outcomeTexts } from './outcomes.ts';
import { phases } from './phases.ts';

export const topicKinds = ['outcome', 'container', 'phase', 'mark', 'finding', 'assumption'] as const;
export type TopicKind = (typeof topicKinds)[number];

export interface Topic {
  kind: TopicKind;
  name: string;
  text: Explanation;
}

const assumptionNames = Object.keys(assumptionTexts) as AssumptionName[];

export const topics: readonly Topic[] = [
  ...outcomes.map((name) => ({ kind: 'outcome' as const, name, text: outcomeTexts[name] })),
  ...containerOutcomes.map((name) => ({ kind: 'container' as const, name, text: containerTexts[name] })),
  ...phaseNames.map((name) => ({ kind: 'phase' as const, name, text: phases[name] })),
  ...markNames.map((name) => ({ kind: 'mark' as const, name, text: markTexts[name] })),
  ...findingCodes.map((name) => ({ kind: 'finding' as const, name, text: findingTexts[name] })),
  ...assumptionNames.map((name) => ({ kind: 'assumption' as const, name, text: assumptionTexts[name] })),
];

/** What the kinds are called where people read. */
export const kindTitles: Record<TopicKind, string> = {
  outcome: 'Outcomes',
  container: "Containers' outcomes",
  phase: 'Phases',
  mark: 'Marks',
  finding: 'Findings',
  assumption: 'Assumptions',
};
