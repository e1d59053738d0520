/** `explain [WORD]`: explains a word of a report, or all words of a kind. */
import type { AddCommand } from './command.ts';

export const addExplain: AddCommand = (program, ports, setExitCode) => {
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
    .action(async (word: string | undefined) => {
      (await import('../output/text/explain.ts')).explainTopic(word, ports);
      setExitCode(0);
    });
};
