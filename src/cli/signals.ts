/** `signals [PROGRAM | IMAGE | -- COMMAND…]`: what programs do with signals, which no cluster needs to be asked for. */
import { addDocumentFlags, documentOptions } from './options.ts';
import { splitAtDashes } from './words.ts';
import type { AddCommand, Flags } from './command.ts';

const examples = `Examples:
  kubectl podexit signals nginx                          a program
  kubectl podexit signals postgres:17                    an image
  kubectl podexit signals -- sh -c 'npm start'           a command line, as a container runs it
  kubectl podexit signals                                all programs that are known
`;

export const addSignals: AddCommand = (program, ports, setExitCode) => {
  const command = program
    .command('signals [what...]')
    .usage('[PROGRAM | IMAGE | -- COMMAND ARGS…] [flags]')
    .description('what a program does with a stop signal')
    .addHelpText('before', examples);
  addDocumentFlags(command, 'signals').action(async (words: string[], flags: Flags) => {
    const { signals } = await import('../advice/signals-command.ts');
    const isCommand = splitAtDashes(program, words)[1].length > 0;
    setExitCode(await signals({ words, isCommand, ...(await documentOptions(flags, 'signals')) }, ports));
  });
};
