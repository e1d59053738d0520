/**
 * The ports of a real process: its streams, environment and signals reach the program through here alone. Beside it only
 * the entry touches `process` (start.ts: arguments and exit code).
 */
import { isatty } from 'node:tty';
import { version } from '../../package.json';
import { systemClock } from '../run/clock.ts';
import type { Output, Ports } from '../run/ports.ts';

export function processPorts(): Ports {
  return {
    stdout: outputTo(1, () => process.stdout),
    stderr: outputTo(2, () => process.stderr),
    // By the descriptor: creating a stream takes longer, and most runs never read it.
    stdinIsTty: isatty(0),
    ask,
    env: process.env,
    clock: systemClock,
    platform: process.platform,
    version,
    random: Math.random,
    onSignal: (listener) => {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
      const handlers = signals.map((signal) => [signal, () => listener(signal)] as const);
      handlers.forEach(([signal, handler]) => process.on(signal, handler));
      return () => handlers.forEach(([signal, handler]) => process.off(signal, handler));
    },
    leave: (code) => process.exit(code),
  };
}

async function ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // While a terminal is being read, Ctrl-C reaches only the reader.
  lines.once('SIGINT', () => {
    process.emit('SIGINT');
    lines.close();
  });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(question, signal ? { signal } : {}), ended]);
  } finally {
    // Interrupted instead of answered: a terminal that is still being read would keep the process alive.
    lines.close();
  }
}

/** The stream is created when something is written: before the DELETE it would only delay that. */
function outputTo(descriptor: 1 | 2, create: () => NodeJS.WriteStream): Output {
  let gone = false;
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => (close = resolve));
  const onError = (error: NodeJS.ErrnoException): void => {
    gone = true;
    // A reader that has seen enough (`| head`) is no error of ours.
    if (error.code === 'EPIPE') return close();
    if (descriptor !== 1) return;
    process.exitCode = 1;
    process.stderr.write(`podexit: stdout cannot be written (${error.code ?? error.message})\n`);
  };
  let known: NodeJS.WriteStream | undefined;
  const stream = (): NodeJS.WriteStream => (known ??= create().on('error', onError));
  return {
    write: (text) => void (gone || stream().write(text)),
    isTty: isatty(descriptor),
    // A terminal without a size reports 0.
    columns: () => stream().columns || 80,
    rows: () => stream().rows || 24,
    onResize: (listener) => {
      stream().on('resize', listener);
      return () => stream().off('resize', listener);
    },
    closed,
  };
}
