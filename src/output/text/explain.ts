/** `explain`: explanations as pages at the terminal. The texts are in docs/explain.md. */
import { PodexitError } from '../../errors.ts';
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
import { penOn, type Pen } from '../palette.ts';
import type { OutputPorts } from '../ports.ts';
import { wrapWords } from '../prose.ts';

/** Prints what is asked about. Throws `explain.unknown` with similar names. */
export function explainTopic(name: string | undefined, ports: OutputPorts): void {
  const pen = penOn({ color: 'auto', ascii: false }, ports);
  const text = explanation(name?.toLowerCase(), Math.min(Math.max(ports.stdout.columns(), 40), 100) - 4, pen);
  if (text === undefined) throw unknownTopic(name ?? '');
  ports.stdout.write(pen.letters(text));
}

/** The topics with a name, a kind of topics, `figures`, or all kinds if nothing is `asked`. `width`: columns of the text. */
function explanation(asked: string | undefined, width: number, pen: Pen): string | undefined {
  const entry = (title: string, text: string, gap = ''): string =>
    `${pen.paint('strong', title)}${gap}\n${indented(wrapWords(text, width), 4)}\n`;
  if (asked === undefined) {
    const namesOf = (kind: TopicKind) => topics.flatMap((topic) => (topic.kind === kind ? topic.name : []));
    const entries = topicKinds.map((kind) => entry(kinds[kind].title, namesOf(kind).join(', ')));
    return `${[...entries, entry('Figures', plainFigures)].join('\n')}${more}`;
  }
  if (asked === 'figures') return entry('figures', plainFigures, '  (how to read them)\n');
  const found = topics.filter(({ name }) => name === asked);
  if (found.length > 0) return found.map((topic) => pageOf(topic, width, pen)).join('\n');
  const kind = topicKinds.find((one) => asked === one || asked === pluralOf(one));
  if (kind === undefined) return undefined;
  return [...topics.flatMap((topic) => (topic.kind === kind ? entry(topic.name, topic.text.is) : [])), more].join('');
}

/** At most 15 lines at 80 columns: what the topic is, how it is known, what to do. */
function pageOf({ kind, name, text }: Topic, width: number, pen: Pen): string {
  const margin = 8;
  const parts = Object.entries(labels).flatMap(([label, key]) => {
    const lines = text[key] === undefined ? [] : wrapWords(text[key], width - margin + 4);
    return lines.length === 0 ? [] : [pen.paint('strong', label) + indented(lines, margin).slice(label.length)];
  });
  const yaml = text.yaml === undefined ? [] : [indented(text.yaml.split('\n'), margin)];
  return `${pen.paint('strong', name)}  (${kinds[kind].about})\n\n${[...parts, ...yaml].join('\n')}\n`;
}

const indented = (lines: readonly string[], by: number): string =>
  lines.map((line) => ' '.repeat(by) + line).join('\n');

const plainFigures = figures.replaceAll('`', '');

const more = '\nkubectl podexit explain NAME prints more about one.\n';

/** Similar topics share a word of the name; if there are none, those whose text contains a word of it. */
function unknownTopic(asked: string): PodexitError {
  const parts = asked.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  const named = topics.filter(({ name }) => parts.some((part) => name.includes(part)));
  const mentioned = topics.filter(({ text }) => parts.some((part) => text.is.toLowerCase().includes(part)));
  const near = [...new Set((named.length > 0 ? named : mentioned).map(({ name }) => name))];
  return new PodexitError(
    'explain.unknown',
    `unknown topic "${asked.slice(0, 80)}"`,
    near.length > 0 ? `Similar: ${near.join(', ')}` : 'List them with: kubectl podexit explain',
  );
}
