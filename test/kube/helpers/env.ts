import type { Env } from '../../../src/kube/env.ts';
import { patientClock } from '../../helpers/patient-clock.ts';

export interface TestEnv extends Env {
  /** Everything that was logged at any level, or written to stderr. */
  said: string[];
  /** The requested waits, in ms. */
  waits: number[];
  /** Does what the test does itself, `ms` later on the same clock. */
  after(ms: number, run: () => void): void;
}

/** Real sockets, and a patient clock. */
export function testEnv(
  options: { variables?: Record<string, string>; speed?: number; stdinIsTty?: boolean } = {},
): TestEnv {
  const { speed = 1 } = options;
  const clock = patientClock(speed, 1_780_000_000_000);
  const said: string[] = [];
  const waits: number[] = [];
  return {
    said,
    waits,
    variables: { PATH: process.env['PATH'], ...options.variables },
    stderr: { write: (text) => void said.push(text) },
    stdinIsTty: options.stdinIsTty ?? false,
    platform: process.platform,
    now: clock.now,
    setTimeout: (callback, ms) => {
      waits.push(ms);
      return clock.setTimeout(callback, ms);
    },
    after: (ms, run) => void clock.setTimeout(run, ms),
    random: () => 0.5,
    log: (_, message) => void said.push(message),
  };
}
