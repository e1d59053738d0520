/** Explanations as pages at the terminal. The texts are in verdict/explain. */
import { figures, type Explanation } from '../verdict/explain/explanation.ts';
import { wrapWords } from './prose.ts';
import { kindTitles, topicKinds, type Topic, type TopicKind } from '../verdict/explain/topics.ts';

const labels: readonly [key: keyof Explanation, label: string][] = [
  ['is', 'What'],
  ['why', 'Why'],
  ['known', 'See'],
  ['wrong', 'Limits'],
  ['advice', 'Fix'],
];

/** Columns left of the text. */
const margin = 8;

const headings: Record<TopicKind, string> = {
  outcome: 'outcome of an exit',
  container: 'outcome of a container',
  phase: 'phase',
  mark: 'mark of a timeline',
  trigger: 'what deleted the pod',
  finding: 'finding',
  gate: 'gate for pipelines',
  gap: 'cause of a gap',
  assumption: 'assumption',
};

/** Pages wrapped to `columns`. `bold` prints headings in bold if the terminal can. */
export function explanationPages(columns: number, bold: (text: string) => string) {
  const width = Math.min(Math.max(columns, 40), 100) - 4;
  const plainFigures = figures.replaceAll('`', '');
  const indented = (text: string): string =>
    wrapWords(text, width)
      .map((line) => `    ${line}\n`)
      .join('');
  const entry = (title: string, text: string): string => `${bold(title)}\n${indented(text)}`;

  /** At most 15 lines at 80 columns: what the topic is, why it matters, how to see it, how to fix it. */
  const page = ({ kind, name, text }: Topic): string => {
    const body = labels.flatMap(([key, label]) => {
      const [first, ...rest] = text[key] === undefined ? [] : wrapWords(text[key], width - margin + 4);
      if (first === undefined) return [];
      return [`${bold(label)}${' '.repeat(margin - label.length)}${first}`, ...rest.map(behindMargin)];
    });
    const yaml = text.yaml?.split('\n').map(behindMargin) ?? [];
    return `${bold(name)}  (${headings[kind]})\n\n${[...body, ...yaml].join('\n')}\n`;
  };

  return {
    /** One page per topic, like `man`. */
    ofTopics: (topics: readonly Topic[]): string => topics.map(page).join('\n'),
    /** How to read figures. */
    ofFigures: (): string => `${bold('figures')}  (how to read them)\n\n${indented(plainFigures)}`,
    /** All topics of one kind, each with its meaning. */
    ofKind: (kind: TopicKind, topics: readonly Topic[]): string =>
      topics.flatMap((topic) => (topic.kind === kind ? entry(topic.name, topic.text.is) : [])).join(''),
    /** All topics by kind, and how to read figures. */
    overview: (topics: readonly Topic[]): string => {
      const namesOf = (kind: TopicKind) => topics.flatMap((topic) => (topic.kind === kind ? topic.name : []));
      const kinds = topicKinds.map((kind) => entry(kindTitles[kind], namesOf(kind).join(', ')));
      return [...kinds, entry('Figures', plainFigures)].join('\n');
    },
  };
}

const behindMargin = (line: string): string => ' '.repeat(margin) + line;
