/** Explanations as pages at the terminal. The texts are in docs/explain.md. */
import { wrapWords } from '../prose.ts';
import {
  figures,
  kinds,
  labels,
  pluralOf,
  topicKinds,
  topics,
  type Topic,
  type TopicKind,
} from '../../verdict/explain.ts';

/** Columns left of the text. */
const margin = 8;

/**
 * The text about a topic, a kind of topics or `figures`, or about all kinds if nothing is `asked`; undefined if nothing
 * has this name. Wrapped to `columns`. `bold` prints headings in bold if the terminal can.
 */
export function explanation(
  asked: string | undefined,
  columns: number,
  bold: (text: string) => string,
): string | undefined {
  const width = Math.min(Math.max(columns, 40), 100) - 4;
  const indented = (text: string): string =>
    wrapWords(text, width)
      .map((line) => `    ${line}\n`)
      .join('');
  const entry = (title: string, text: string): string => `${bold(title)}\n${indented(text)}`;
  /** At most 15 lines at 80 columns: what the topic is, why it matters, how to see it, how to fix it. */
  const page = ({ kind, name, text }: Topic): string => {
    const body = Object.entries(labels).flatMap(([label, key]) => {
      const [first, ...rest] = text[key] === undefined ? [] : wrapWords(text[key], width - margin + 4);
      if (first === undefined) return [];
      return [`${bold(label)}${' '.repeat(margin - label.length)}${first}`, ...rest.map(behindMargin)];
    });
    const yaml = text.yaml?.split('\n').map(behindMargin) ?? [];
    return `${bold(name)}  (${kinds[kind].about})\n\n${[...body, ...yaml].join('\n')}\n`;
  };
  if (asked === undefined) {
    const namesOf = (kind: TopicKind) => topics.flatMap((topic) => (topic.kind === kind ? topic.name : []));
    const entries = topicKinds.map((kind) => entry(kinds[kind].title, namesOf(kind).join(', ')));
    return `${[...entries, entry('Figures', plainFigures)].join('\n')}${more}`;
  }
  if (asked === 'figures') return `${bold('figures')}  (how to read them)\n\n${indented(plainFigures)}`;
  const found = topics.filter(({ name }) => name === asked);
  if (found.length > 0) return found.map(page).join('\n');
  const kind = topicKinds.find((one) => asked === one || asked === pluralOf(one));
  if (kind === undefined) return undefined;
  return [...topics.flatMap((topic) => (topic.kind === kind ? entry(topic.name, topic.text.is) : [])), more].join('');
}

const plainFigures = figures.replaceAll('`', '');

const more = '\nkubectl podexit explain NAME prints more about one.\n';

const behindMargin = (line: string): string => ' '.repeat(margin) + line;
