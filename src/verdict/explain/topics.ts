/** All that can be explained, in the order of the docs. */
import { containerOutcomes, findingCodes, markNames, outcomes, phaseNames, triggerKinds } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';
import { checkTexts, findingTexts } from './findings.ts';
import { assumptionNames, assumptionText, gapTexts, gateTexts } from './limits.ts';
import { containerTexts, outcomeTexts, triggerTexts } from './outcomes.ts';
import { markTexts, phaseTexts } from './timeline.ts';

/** Titles of the kinds for people, in the order of the docs. */
export const kindTitles = {
  outcome: 'Outcomes',
  container: "Containers' outcomes",
  phase: 'Phases',
  mark: 'Marks',
  trigger: 'Triggers',
  finding: 'Findings',
  gate: 'Gates',
  gap: 'Gaps',
  assumption: 'Assumptions',
} as const;

export type TopicKind = keyof typeof kindTitles;
export const topicKinds = Object.keys(kindTitles) as TopicKind[];

/** The argument of `explain` that lists a whole kind: `findings`. */
export const pluralOf = (kind: TopicKind): string => `${kind}s`;

export interface Topic {
  kind: TopicKind;
  name: string;
  text: Explanation;
}

const topicsOf = <Name extends string>(
  kind: TopicKind,
  texts: Readonly<Record<Name, Explanation>>,
  names: readonly Name[] = Object.keys(texts) as Name[],
): Topic[] => names.map((name) => ({ kind, name, text: { advice: 'Nothing.', ...texts[name] } }));

export const topics: readonly Topic[] = [
  ...topicsOf('outcome', outcomeTexts, outcomes),
  ...topicsOf('container', containerTexts, containerOutcomes),
  ...topicsOf('phase', phaseTexts, phaseNames),
  ...topicsOf('mark', markTexts, markNames),
  ...topicsOf('trigger', triggerTexts, triggerKinds),
  ...topicsOf('finding', findingTexts, findingCodes),
  ...topicsOf('finding', checkTexts),
  ...topicsOf('gate', gateTexts),
  ...topicsOf('gap', gapTexts),
  ...assumptionNames.map((name) => ({ kind: 'assumption' as const, name, text: assumptionText(name) })),
];
