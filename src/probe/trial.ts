/** Before anything is deleted the target must answer for a second without a failure. */
import { PodexitError } from '../errors.ts';
import type { Result } from './client.ts';
import type { Settled } from './tally.ts';
import type { ProbeTarget } from './target.ts';

/** Client ms. */
export const trialMs = 1000;

export interface Trial {
  /** Resolves when the second is over and all that was sent in it was answered; rejects with `probe.not-answering`. */
  readonly passed: Promise<void>;
  sent(at: number): void;
  settled(settled: Settled): void;
  /** The second is over. */
  over(): void;
  /** Nobody waits for it any more. */
  cancel(): void;
}

export function createTrial(target: ProbeTarget, start: number): Trial {
  let [open, answered] = [0, 0];
  let isOver = false;
  let ownTrouble: Result | undefined;
  let resolve = (): void => undefined;
  let reject = (_error: Error): void => undefined;
  const passed = new Promise<void>((done, failed) => ([resolve, reject] = [done, failed]));
  // A caller that never asks must not be ended by an unhandled rejection.
  passed.catch(() => undefined);
  const conclude = (): void => {
    if (!isOver || open > 0) return;
    if (answered > 0) resolve();
    else reject(notAnswering(target, ownTrouble));
  };
  return {
    passed,
    sent: (at) => void (at < start + trialMs && (open += 1)),
    settled({ result, sentAt }) {
      if (sentAt >= start + trialMs) return;
      open -= 1;
      if (result.kind === 'succeeded') answered += 1;
      if (result.kind === 'not-measured') ownTrouble = result;
      if (result.kind === 'failed') reject(notAnswering(target, result));
      conclude();
    },
    over() {
      isOver = true;
      conclude();
    },
    cancel: resolve,
  };
}

function notAnswering(target: ProbeTarget, result: Result | undefined): PodexitError {
  const said = result?.said ?? 'no request was answered';
  return new PodexitError(
    'probe.not-answering',
    `the probe of ${target.shown} failed before anything was deleted: ${said}`,
    hintOf(target, result),
  );
}

function hintOf(target: ProbeTarget, result: Result | undefined): string {
  if (result?.kind === 'not-measured') return 'Lower --probe-rate, or raise the limit of open files: ulimit -n 8192';
  if (result?.kind !== 'failed') return again;
  const isRefusedRight = result.failure === 'http' && (result.status === 403 || result.status === 401);
  if (isRefusedRight && (target.kind === 'service' || target.kind === 'pod'))
    return `Grant the verb of --probe-method (get) on ${target.kind === 'pod' ? 'pods' : 'services'}/proxy in its namespace, or probe an address.`;
  if (result.failure === 'http' && result.status !== undefined)
    return 'Name a path that answers, or say what is expected: --probe-expect 200-499';
  if (result.failure === 'tls') return 'Give its authority with --probe-ca FILE, or use --probe-insecure.';
  return again;
}

const again = 'Check that the target answers from here; a probe measures only what answered before.';
