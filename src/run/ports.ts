/** What a run needs from the process around it. Everything is passed as an argument. */
import type { Interrupted } from '../model/observation.ts';
import type { Output, OutputPorts } from '../output/ports.ts';
import { forTerminal } from '../output/safe-text.ts';

export interface Ports extends OutputPorts {
  readonly stdinIsTty: boolean;
  /** Reads one line of stdin; undefined if it has ended. Rejects on abort. Absent if nobody can be asked. */
  ask?(question: string, signal?: AbortSignal): Promise<string | undefined>;
  random(): number;
  /** Calls back for each signal; returns an unsubscribe function. */
  onSignal(listener: (signal: Interrupted['signal']) => void): () => void;
  /** Exits at once: for the second Ctrl-C. */
  leave(code: number): void;
  /** The cluster ends with the command. */
  readonly isDemo?: boolean;
}

/** Prints one sentence on stderr. */
export const warnOn =
  ({ stderr }: Pick<Ports, 'stderr'>) =>
  (message: string): void =>
    stderr.write(`podexit: ${forTerminal(message, 2000)}\n`);

/** Messages that `say` does not take go to stderr: a live view prints them above itself, or they would damage it. */
export const sayingThrough = (say: (text: string) => boolean | undefined, ports: Ports): Ports => ({
  ...ports,
  stderr: { ...ports.stderr, write: (text) => void (say(text) || ports.stderr.write(text)) },
});

/** Shows at a terminal that a command without a view of its own works; what it prints takes the spinner's place. */
export async function whileWaiting<T>(text: string, ports: Ports, work: (ports: Ports) => Promise<T>): Promise<T> {
  const { stdout, stderr, env, ask } = ports;
  // ora must know how wide the terminal is. If it hid the cursor, it would end the process at the first signal.
  if (!stderr.isTty || env['TERM'] === 'dumb' || !stderr.hasSize?.()) return work(ports);
  const spinner = (await import('ora')).default({ text, discardStdin: false, hideCursor: false }).start();
  const printed = (output: Output, isLast: boolean): Output => ({
    ...output,
    write: (lines) => void (spinner.stop(), output.write(lines), isLast || spinner.start()),
  });
  const asked: Ports['ask'] = ask && ((...question) => (spinner.stop(), ask(...question)));
  try {
    return await work({ ...ports, stdout: printed(stdout, true), stderr: printed(stderr, false), ask: asked });
  } finally {
    spinner.stop();
  }
}
