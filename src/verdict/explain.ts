/** All that can be explained: the topics of docs/explain.md, which contains the texts and their order. Pure. */
import page from '../../docs/explain.md?raw';

interface Explanation {
  is: string;
  /** How it is known, where that is not plain. */
  known?: string;
  /** What to do about it; absent: nothing. */
  advice?: string;
  /** The advice as YAML for a manifest. */
  yaml?: string;
}

/** What the page and the terminal call the parts of an explanation, in their order. */
export const labels: Readonly<Record<string, Exclude<keyof Explanation, 'yaml'>>> = {
  What: 'is',
  See: 'known',
  Fix: 'advice',
};

/** `title`: the heading of this kind on the page. `about`: what one topic of it is. */
export const kinds = {
  outcome: { title: 'Outcomes', about: 'outcome of an exit' },
  container: { title: "Containers' outcomes", about: 'outcome of a container' },
  phase: { title: 'Phases', about: 'phase' },
  mark: { title: 'Marks', about: 'mark of a timeline' },
  trigger: { title: 'Triggers', about: 'what deleted the pod' },
  finding: { title: 'Findings', about: 'finding' },
  gate: { title: 'Gates', about: 'gate for pipelines' },
  gap: { title: 'Gaps', about: 'cause of a gap' },
  assumption: { title: 'Assumptions', about: 'assumption' },
};

export type TopicKind = keyof typeof kinds;
export const topicKinds = Object.keys(kinds) as TopicKind[];

/** The argument of `explain` that lists a whole kind: `findings`. */
export const pluralOf = (kind: TopicKind): string => `${kind}s`;

export interface Topic {
  kind: TopicKind;
  name: string;
  text: Explanation;
}

const sections = new Map(below('##', page));

/** How to read the figures of a report. */
export const figures = sections.get('Figures') ?? '';

export const topics: readonly Topic[] = topicKinds.flatMap((kind) =>
  below('###', sections.get(kinds[kind].title) ?? '').map(([heading, text]) => ({
    kind,
    // The page says `mark exited`, since `exited` alone is an everyday word.
    name: heading.replace(`${kind} `, ''),
    text: explanationIn(text),
  })),
);

/** The headings of a level, each with the text below it. */
function below(level: '##' | '###', text: string): [heading: string, text: string][] {
  const [, ...parts] = text.split(new RegExp(`^${level} `, 'm'));
  return parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    return [heading, lines.join('\n').trim()];
  });
}

/** `- **What.** A service …`, for each part; the YAML is a code block. */
function explanationIn(text: string): Explanation {
  const parts = Array.from(text.matchAll(/^- \*\*(.+?)\.\*\* (.+)$/gm), ([, label = '', words]) => [
    labels[label],
    words,
  ]);
  const [, yaml] = /^```yaml\n(.*?)\n```$/ms.exec(text) ?? [];
  return { ...(Object.fromEntries(parts) as Omit<Explanation, 'yaml'>), yaml };
}
