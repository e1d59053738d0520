/** `completion SHELL`: prints the script. */
import type { Command } from 'commander';
import type { Ports } from '../../run/ports.ts';
import { oneOf } from '../one-of.ts';
import { completionScripts, shells } from './scripts.ts';

export function addCompletion(program: Command, { stdout }: Ports, set: (code: number) => void): void {
  program
    .command('completion <shell>')
    .description(`print the script for ${shells.join(', ')}`)
    .addHelpText(
      'before',
      `Examples:
  source <(kubectl-podexit completion bash)
  kubectl-podexit completion fish | source
`,
    )
    .exitOverride()
    .action((shell: string) => {
      stdout.write(completionScripts[oneOf(shell, shells, 'completion')]);
      set(0);
    });
}
