/** What the program and its commands give each other. */
import type { Command } from 'commander';
import type { Ports } from '../run/ports.ts';

/** The whole program: from a command line (without node and script) to an exit code. */
export type Main = (argv: readonly string[], ports: Ports) => Promise<number>;

/** Adds a command to the program. The command reports its exit code with `setExitCode`; `main` runs another one. */
export type AddCommand = (program: Command, ports: Ports, setExitCode: SetExitCode, main: Main) => void;
type SetExitCode = (code: number) => void;
