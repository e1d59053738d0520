/** Before anything is deleted the target must answer for a second without a failure. */
import { PodexitError } from '../errors.ts';
import type { NotMeasuredReason } from '../model/probe-observation.ts';
import type { Result } from './result.ts';
import type { Settled } from './tally.ts';
import type { ProbeTarget } from './target.ts';

/** Client ms. */
const trialMs = 1000;

/** Begins at once. */
export function createTrial(target: ProbeTarget, start: number) {
  /** Requests without an answer, and the second itself. */
  let open = 1;
  let answered = 0;
  let ownTrouble: Result | undefined;
  let resolve = (): void => undefined;
  let reject = (_error: Error): void => undefined;
  const passed = new Promise<void>((done, failed) => ([resolve, reject] = [done, failed]));
  const closeOne = (): void => {
    open -= 1;
    if (open > 0) return;
    if (answered > 0) resolve();
    else reject(notAnswering(target, ownTrouble));
  };
  const timer = setTimeout(closeOne, trialMs);
  return {
    /** Resolves when the second is over and all its requests were answered; rejects with `probe.not-answering`. */
    passed,
    sent: (at: number): void => void (at < start + trialMs && (open += 1)),
    settled({ result, sentAt }: Settled): void {
      if (sentAt >= start + trialMs) return;
      if (result.kind === 'succeeded') answered += 1;
      if (result.kind === 'not-measured') ownTrouble = result;
      if (result.kind === 'failed') reject(notAnswering(target, result));
      closeOne();
    },
    /** Nobody awaits it any more. */
    cancel(): void {
      clearTimeout(timer);
      resolve();
    },
  };
}

function notAnswering(target: ProbeTarget, result: Result | undefined): PodexitError {
  const said = result?.said ?? 'no request was answered';
  const message = `the probe of ${target.shown} failed before anything was deleted: ${said}`;
  // The API server refuses the use of its proxy; its Status says so.
  const isRefused = result?.kind === 'failed' && result.status === 403 && said.includes(' is forbidden');
  const isForbidden = isRefused && (target.kind === 'service' || target.kind === 'pod');
  return new PodexitError(isForbidden ? 'probe.forbidden' : 'probe.not-answering', message, hintOf(target, result));
}

function hintOf(target: ProbeTarget, result: Result | undefined): string {
  if (result?.kind === 'not-measured') return ownHints[result.reason] ?? again;
  if (result?.kind !== 'failed') return again;
  if (target.kind === 'grpc' && (result.failure === 'http' || result.failure === 'not-serving'))
    return 'The target must answer SERVING to grpc.health.v1.Health/Check, for the SERVICE if you name one.';
  if (target.kind === 'service' && target.port === undefined && result.said?.includes('no endpoints available'))
    return 'If the port of this Service has a name, add it: service/NAME:PORT.';
  if (result.failure === 'http' && result.status !== undefined)
    return 'Name a path that answers, or say what is expected: --probe-expect 200-499';
  if (result.failure === 'tls')
    return 'If this machine does not accept its certificate: give its authority with --probe-ca FILE, name a host that it is for, or use --probe-insecure.';
  return again;
}

const ownHints: Partial<Record<NotMeasuredReason, string>> = {
  'no-local-port': 'Lower --probe-rate, or wait until closed connections leave TIME_WAIT (a minute): ss -s',
  'no-file-handle': 'Lower --probe-rate, or raise the limit of open files: ulimit -n 8192',
};

const again = 'Does it answer from here within --probe-timeout? A probe measures only what answered before.';
