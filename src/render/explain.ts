/** Explanations as a page at the terminal, and as Markdown. The texts are in verdict/explain. */
import { figures, type Explanation } from '../verdict/explain/explanation.ts';
import { wrapWords } from './prose.ts';
import { kindTitles, topicKinds, type Topic, type TopicKind } from '../verdict/explain/topics.ts';

/** One page per topic, like `man`, wrapped to `columns`. `bold` prints headings in bold if the terminal can. */
export function renderExplanation(topics: readonly Topic[], columns: number, bold: (text: string) => string): string {
  const width = textWidth(columns);
  return topics.map((topic) => page(topic, width, bold)).join('\n');
}

/** At most 15 lines at 80 columns: what the topic is, why it matters, how to see it, how to fix it. */
function page({ kind, name, text }: Topic, width: number, bold: (text: string) => string): string {
  const body = labels.flatMap(([key, label]) => {
    const words = text[key];
    if (words === undefined) return [];
    const [first = '', ...rest] = wrapWords(words, width - margin + 4);
    return [
      `${bold(label)}${' '.repeat(margin - label.length)}${first}`,
      ...rest.map((line) => ' '.repeat(margin) + line),
    ];
  });
  const yaml = text.yaml === undefined ? [] : text.yaml.split('\n').map((line) => ' '.repeat(margin) + line);
  return `${bold(name)}  (${headings[kind]})\n\n${[...body, ...yaml].join('\n')}\n`;
}

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

/** The page on how to read figures. */
export function renderFigures(columns: number, bold: (text: string) => string): string {
  return `${bold('figures')}  (how to read them)\n\n${indented(figures.replaceAll('`', ''), textWidth(columns))}`;
}

/** All topics of one kind, each with its meaning. */
export function renderKind(
  kind: TopicKind,
  topics: readonly Topic[],
  columns: number,
  bold: (text: string) => string,
): string {
  const width = textWidth(columns);
  return topics
    .filter((topic) => topic.kind === kind)
    .map(({ name, text }) => `${bold(name)}\n${indented(text.is, width)}`)
    .join('');
}

/** All topics by kind, and how to read figures. */
export function renderTopics(topics: readonly Topic[], columns: number, bold: (text: string) => string): string {
  const width = textWidth(columns);
  const namesOf = (kind: TopicKind) => topics.filter((topic) => topic.kind === kind).map(({ name }) => name);
  const parts = topicKinds.map((kind) => [kindTitles[kind], namesOf(kind).join(', ')] as const);
  return [...parts, ['Figures', figures.replaceAll('`', '')] as const]
    .map(([title, text]) => `${bold(title)}\n${indented(text, width)}`)
    .join('\n');
}

const textWidth = (columns: number): number => Math.min(Math.max(columns, 40), 100) - 4;

const indented = (text: string, width: number): string =>
  wrapWords(text, width)
    .map((line) => `    ${line}\n`)
    .join('');
