/** `explain [WORD]`: what the words of a report mean, or all words of a kind. */
import type { Command } from 'commander';
import type { Ports } from '../run/ports.ts';
import { explainTopic } from '../run/explain-topic.ts';

export function addExplain(program: Command, ports: Ports, set: (code: number) => void): void {
  program
    .command('explain [word]')
    .description('explain a word of a report, and what to do')
    .addHelpText(
      'before',
      `Examples:
  kubectl podexit explain drain-race      a finding
  kubectl podexit explain findings        all of a kind: outcomes, marks, phases, findings
  kubectl podexit explain                 the kinds
`,
    )
    .exitOverride()
    .action(async (word: string | undefined) => set(await explainTopic(word, ports)));
}
