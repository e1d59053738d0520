/** All that can be explained, in the order of the docs. */
import type { AssumptionName } from '../../model/assumptions.ts';
import { containerOutcomes, findingCodes, markNames, outcomes, phaseNames, triggerKinds } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';
import { checkTexts, findingTexts } from './findings.ts';
import { assumptionTexts, gapTexts, gateTexts, type GapWord, type GateWord } from './limits.ts';
import { containerTexts, outcomeTexts, triggerTexts } from './outcomes.ts';
import { markTexts, phases } from './timeline.ts';

export const topicKinds = [
  'outcome',
  'container',
  'phase',
  'mark',
  'trigger',
  'finding',
  'gate',
  'gap',
  'assumption',
] as const;
export type TopicKind = (typeof topicKinds)[number];

/** As somebody asks for all of a kind. */
export const pluralOf = (kind: TopicKind): string => `${kind}s`;

export interface Topic {
  kind: TopicKind;
  name: string;
  text: Explanation;
}

const gapWords = Object.keys(gapTexts) as GapWord[];
const gateWords = Object.keys(gateTexts) as GateWord[];
const checkNames = Object.keys(checkTexts) as (keyof typeof checkTexts)[];
const assumptionNames = Object.keys(assumptionTexts) as AssumptionName[];

export const topics: readonly Topic[] = [
  ...outcomes.map((name) => ({ kind: 'outcome' as const, name, text: outcomeTexts[name] })),
  ...containerOutcomes.map((name) => ({ kind: 'container' as const, name, text: containerTexts[name] })),
  ...phaseNames.map((name) => ({ kind: 'phase' as const, name, text: phases[name] })),
  ...markNames.map((name) => ({ kind: 'mark' as const, name, text: markTexts[name] })),
  ...triggerKinds.map((name) => ({ kind: 'trigger' as const, name, text: triggerTexts[name] })),
  ...findingCodes.map((name) => ({ kind: 'finding' as const, name, text: findingTexts[name] })),
  ...checkNames.map((name) => ({ kind: 'finding' as const, name, text: checkTexts[name] })),
  ...gateWords.map((name) => ({ kind: 'gate' as const, name, text: gateTexts[name] })),
  ...gapWords.map((name) => ({ kind: 'gap' as const, name, text: gapTexts[name] })),
  ...assumptionNames.map((name) => ({ kind: 'assumption' as const, name, text: assumptionTexts[name] })),
];

/** What the kinds are called where people read. */
export const kindTitles: Record<TopicKind, string> = {
  outcome: 'Outcomes',
  container: "Containers' outcomes",
  phase: 'Phases',
  mark: 'Marks',
  trigger: 'Triggers',
  finding: 'Findings',
  gate: 'Gates',
  gap: 'Gaps',
  assumption: 'Assumptions',
};
