/** The entry of every bundle; only this file reaches the process. No top-level await: CommonJS has none. */
import { isatty } from 'node:tty';
import { version } from '../../package.json';
import { systemClock } from '../run/clock.ts';
import type { Output } from '../output/ports.ts';
import type { Ports } from '../run/ports.ts';
import { main } from './main.ts';

const ports: Ports = {
  stdout: outputTo(1, () => process.stdout),
  stderr: outputTo(2, () => process.stderr),
  // Read from the descriptor: creating a stream takes longer, and most runs never read stdin.
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
void ports.stdout.closed.then(() => void (process.exitCode = 141));
void main(process.argv.slice(2), ports).then((code) => void (process.exitCode ??= code));

async function ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // While readline reads a terminal, Ctrl-C reaches only readline.
  lines.once('SIGINT', () => {
    process.emit('SIGINT');
    lines.close();
  });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(question, { signal }), ended]);
  } finally {
    // Also after an interrupt: a terminal that is still being read would keep the process alive.
    lines.close();
  }
}

/** Creates the stream at the first write: earlier, it would only delay the DELETE. */
function outputTo(descriptor: 1 | 2, create: () => NodeJS.WriteStream): Output {
  let isGone = false;
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => (close = resolve));
  const onError = (error: NodeJS.ErrnoException): void => {
    isGone = true;
    // A reader that has seen enough (`| head`) is no error.
    if (error.code === 'EPIPE') return close();
    if (descriptor !== 1) return;
    process.exitCode = 1;
    process.stderr.write(`podexit: stdout cannot be written (${error.code ?? error.message})\n`);
  };
  let created: NodeJS.WriteStream | undefined;
  const stream = (): NodeJS.WriteStream => (created ??= create().on('error', onError));
  return {
    write: (text) => void (isGone || stream().write(text)),
    waiting: () => stream().writableLength,
    isTty: isatty(descriptor),
    // A terminal without a size reports 0.
    columns: () => stream().columns || 80,
    hasSize: () => Boolean(stream().columns),
    rows: () => stream().rows || 24,
    onResize: (listener) => {
      stream().on('resize', listener);
      return () => stream().off('resize', listener);
    },
    onSuspend: (listener) => {
      const suspend = (): void => {
        listener();
        // Without a listener the signal suspends this process, if its shell can continue it.
        process.off('SIGTSTP', suspend);
        process.kill(process.pid, 'SIGTSTP');
        process.on('SIGTSTP', suspend);
      };
      process.on('SIGTSTP', suspend);
      return () => process.off('SIGTSTP', suspend);
    },
    closed,
  };
}
