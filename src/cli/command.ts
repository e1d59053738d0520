/** What the program and its commands give each other. */
import type { Command } from 'commander';
import type { Ports } from '../run/ports.ts';
import { addFlags, type Flags, type FlagTable } from './flags.ts';

/** The whole program: from a command line (without node and script) to an exit code. */
export type Main = (argv: readonly string[], ports: Ports) => Promise<number>;

export type TracePods = (command: Command, words: readonly string[], flags: Flags & StartFlags) => Promise<void>;

/** Of `rollout`. */
export interface StartFlags {
  restart?: boolean;
  image?: string;
}

/** Adds a command to the program. It reports its exit code with `setExitCode`; `main` runs another command line. */
export type AddCommand = (
  program: Command,
  ports: Ports,
  setExitCode: (code: number) => void,
  runs: { main: Main; trace: TracePods },
) => void;

/** Adds a command to the program: its name and arguments, what it does, examples of it, and its flags. */
export const newCommand = (
  program: Command,
  words: string,
  about: string,
  examples: string,
  flags: FlagTable = {},
): Command => addFlags(program.command(words).description(about).addHelpText('before', examples), flags);
