/** What a command is given of the program that it is a part of. */
import type { Command } from 'commander';
import type { Ports } from '../run/ports.ts';

/** The whole program: from a command line (without node and script) to an exit code. */
export type Main = (argv: readonly string[], ports: Ports) => Promise<number>;

/** With which a command runs another command line. */
export interface Programs {
  /** Also says errors. */
  main: Main;
  /** Throws PodexitError. */
  runProgram: Main;
}

/** Adds the command to the program; `set` takes its exit code. */
export type AddCommand = (program: Command, ports: Ports, set: (code: number) => void, programs: Programs) => void;
