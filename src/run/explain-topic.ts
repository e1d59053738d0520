/** Prints explanations on stdout. */
import { PodexitError } from '../errors.ts';
import type { Topic } from '../verdict/explain.ts';
import type { Ports } from './ports.ts';

/** Returns exit code 0. Throws `explain.unknown` with the most similar names. */
export async function explainTopic(name: string | undefined, { stdout, env, platform }: Ports): Promise<number> {
  const { topics } = await import('../verdict/explain.ts');
  const { explanation } = await import('../output/text/explain.ts');
  const { penFor, styleOf } = await import('../output/palette.ts');
  const pen = penFor(styleOf({ color: 'auto', ascii: false }, { env, isTty: stdout.isTty, platform }));
  const text = explanation(name?.toLowerCase(), stdout.columns(), (words) => pen.paint('strong', words));
  if (text === undefined) throw unknownTopic(name ?? '', topics);
  stdout.write(pen.letters(text));
  return 0;
}

/** Similar topics share a word of the name; if there are none, those whose text contains a word of it. */
function unknownTopic(name: string, topics: readonly Topic[]): PodexitError {
  const parts = name.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  const named = topics.filter(({ name }) => parts.some((part) => name.includes(part)));
  const mentioned = topics.filter(({ text }) => parts.some((part) => text.is.toLowerCase().includes(part)));
  const near = [...new Set((named.length > 0 ? named : mentioned).map(({ name }) => name))];
  return new PodexitError(
    'explain.unknown',
    `unknown topic "${name.slice(0, 80)}"`,
    near.length > 0 ? `Similar: ${near.join(', ')}` : 'List them with: kubectl podexit explain',
  );
}
