/** `explain [WORD]`: what the words of a report mean, or all words of a kind. */
import type { Command } from 'commander';
import type { Ports } from '../run/ports.ts';
import { explainTopic } from '../run/explain-topic.ts';

export function addExplain(program: Command, ports: Ports, set: (code: number) => void): void {
  program
    .command('explain [word]')
    .description(
      'say what a phase, a mark, a finding or an outcome means, how it is known, and what to do; or list a kind, as in: explain findings',
    )
    .exitOverride()
    .action(async (word: string | undefined) => set(await explainTopic(word, ports)));
}
