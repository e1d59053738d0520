import type { Env } from '../../../src/kube/env.ts';

export interface TestEnv extends Env {
  /** Everything that was logged at any level, or written to stderr. */
  said: string[];
  /** The requested waits, in ms. */
  waits: number[];
}

/** Real sockets, and a clock that runs `speed` times as fast as the wall clock. */
export function testEnv(
  options: { variables?: Record<string, string>; speed?: number; stdinIsTty?: boolean } = {},
): TestEnv {
  const { speed = 1 } = options;
  const started = performance.now();
  const said: string[] = [];
  const waits: number[] = [];
  return {
    said,
    waits,
    variables: { PATH: process.env['PATH'], ...options.variables },
    stderr: { write: (text) => void said.push(text) },
    stdinIsTty: options.stdinIsTty ?? false,
    platform: process.platform,
    now: () => Math.floor(1_780_000_000_000 + (performance.now() - started) * speed),
    setTimeout: (callback, ms) => {
      waits.push(ms);
      const timer = setTimeout(callback, ms / speed);
      return () => clearTimeout(timer);
    },
    random: () => 0.5,
    log: (_, message) => void said.push(message),
  };
}
