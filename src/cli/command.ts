/** What the program and its commands give each other. */
import type { Command } from 'commander';
import type { ReplayText } from '../advice/history/reports.ts';
import type { Ports } from '../run/ports.ts';

/** The whole program: from a command line (without node and script) to an exit code. */
export type Main = (argv: readonly string[], ports: Ports) => Promise<number>;

/** How a command runs another command line. */
export interface Programs {
  /** Prints errors. */
  main: Main;
  /** Throws PodexitError. */
  runProgram: Main;
}

/** Adds a command to the program. The command reports its exit code with `setExitCode`. */
export type AddCommand = (program: Command, ports: Ports, setExitCode: SetExitCode, programs: Programs) => void;
type SetExitCode = (code: number) => void;

/** The output of `replay`, for commands that read recordings: so a recording gives the same result everywhere. */
export const replayTextWith =
  (run: Main, ports: Ports): ReplayText =>
  async (file, words) => {
    let text = '';
    const stdout = { ...ports.stdout, isTty: false, write: (part: string) => void (text += part) };
    const quiet = { ...ports, stdout, env: {}, stderr: { ...ports.stderr, write: () => {} } };
    await run(['replay', file, '--no-config', '--no-github', ...words], quiet);
    return text;
  };
