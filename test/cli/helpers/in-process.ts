/** Runs the command line in this process: argv in, exit code and output out. */
import { main } from '../../../src/cli/main.ts';
import { systemClock } from '../../../src/run/clock.ts';
import { clockOfTest } from '../../helpers/patient-clock.ts';
import type { Output } from '../../../src/output/ports.ts';
import type { Ports } from '../../../src/run/ports.ts';

export interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Pretending extends Partial<Omit<Ports, 'stdout' | 'stderr'>> {
  /** The answer to each question at the terminal; absent: stdin is not a terminal. */
  answers?: string[];
  /** The width of the terminal at stdout; absent: stdout is a pipe. */
  columns?: number;
  /** Bytes that nobody has read from stdout. */
  unreadBytes?: number;
  onStdout?(text: string): void;
  onStderr?(text: string): void;
}

/** For `onSignal`: Ctrl-C is pressed once this is true. */
export const pressOnce =
  (isTime: () => boolean): Ports['onSignal'] =>
  (listener) => {
    const timer = setInterval(() => {
      if (!isTime()) return;
      clearInterval(timer);
      listener('SIGINT');
    }, 5);
    return () => clearInterval(timer);
  };

export async function runMain(argv: readonly string[], pretending: Pretending = {}): Promise<Printed> {
  const { answers, columns, unreadBytes = 0, onStdout, onStderr, ...others } = pretending;
  const printed = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr'): Output => ({
    write(text) {
      printed[name] += text;
      (name === 'stdout' ? onStdout : onStderr)?.(text);
    },
    waiting: () => unreadBytes,
    isTty: (name === 'stderr' ? answers : columns) !== undefined,
    columns: () => columns ?? 80,
    rows: () => 24,
    onResize: () => () => {},
    onSuspend: () => () => {},
    closed: new Promise(() => {}),
  });
  const ports: Ports = {
    stdout: output('stdout'),
    stderr: output('stderr'),
    stdinIsTty: answers !== undefined,
    env: {},
    clock: clockOfTest.getStore() ?? systemClock,
    platform: 'linux',
    version: '0.0.0-test',
    random: () => 0.999,
    onSignal: () => () => {},
    leave: () => {},
    ...(answers === undefined
      ? {}
      : { ask: async (question: string) => ((printed.stderr += question), answers.shift()) }),
    ...others,
  };
  const code = await main(argv, ports);
  return { code, ...printed };
}
