/** The gate `--max-lost`: how many requests a probe may lose. Pure. */
import { lossProbes, lostBy, probeResultsOf } from '../infer/probes.ts';
import type { Gate } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';

/** `share` is a ratio of what was sent: 0.001 is 0.1 %. */
export type MaxLost = { kind: 'max-lost' } & ({ count: number } | { share: number });

/** A probe implies `--max-lost 0`, in a replay too. */
export function withImpliedLoss(trace: Trace, gates: readonly Gate[]): Gate[] {
  const isImplied =
    lossProbes(probeResultsOf(trace.probes, {})).length > 0 && gates.every(({ name }) => name !== 'max-lost');
  return isImplied ? [...gates, lostWithin(trace, { kind: 'max-lost', count: 0 })] : [...gates];
}

/** It passes only where requests were measured. */
export function lostWithin(trace: Trace, limit: MaxLost): Gate {
  const name = 'max-lost';
  const { sent, failed } = lostBy(probeResultsOf(trace.probes, {}));
  const allowed = 'count' in limit ? `${limit.count}` : shareText(limit.share);
  if ('share' in limit && limit.share >= 1)
    return { name, passed: true, message: `${failed} of ${sent} requests failed` };
  if (sent === 0)
    return { name, passed: false, message: 'no request was measured, so nothing proves that none was lost' };
  const most = 'count' in limit ? limit.count : limit.share * sent;
  const share = 'share' in limit ? ` (${shareText(failed / sent)})` : '';
  return {
    name,
    passed: failed <= most,
    message: `${failed} of ${sent} requests failed${share}, ${allowed} may`,
  };
}

/** `0.1%`: a share of many requests is worth its digits. */
const shareText = (share: number): string => `${Number((share * 100).toPrecision(2))}%`;
