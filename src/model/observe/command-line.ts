/** What a container's command line shows before it is dropped: recordings keep no arguments. */
import type { ProgramContainer } from '../../programs/behaviour.ts';
import { commandsIn } from '../../programs/shell-script.ts';

export interface CommandLine extends ProgramContainer {
  command: readonly string[];
  args: readonly string[];
}

/** What the last trap for the signal at the top of the line says. What `trap : TERM` does depends on what follows it. */
export function trapOf(line: string, signal: string): 'ignored' | 'handled' | undefined {
  const traps = commandsIn(line).commands.filter(([name]) => name === 'trap');
  const last = traps.findLast((words) =>
    words.slice(2).some((one) => one.replace(/^SIG/, '') === signal || one === '15'),
  );
  const action = last?.[1]?.trim();
  if (action === undefined || action === '-' || action === ':') return undefined;
  return action === '' ? 'ignored' : 'handled';
}

/** A stop signal other than SIGTERM for which the line has a handler. */
export const trappedOther = (line: string): string | undefined =>
  ['QUIT', 'INT', 'USR1', 'USR2', 'WINCH', 'HUP'].find((signal) => trapOf(line, signal) === 'handled');

/** The trap runs when the signal comes: not only after a program in the foreground has ended (POSIX.1-2017, 2.11). */
export function trapRuns(line: string): boolean {
  const { commands, isPlain } = commandsIn(line);
  const [last = 'wait'] = commands.at(-1) ?? [];
  return trapOf(line, 'TERM') === 'handled' && (!isPlain || /^(wait|sleep|:|true|read)$/.test(last));
}
