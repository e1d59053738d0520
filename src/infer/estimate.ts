/**
 * What is known of one moment: bounds on the client's clock and on the node's, kept side by side, because a duration
 * between two of the node's stamps does not suffer from not knowing how far the node's clock is off.
 *
 * Law: an estimate only ever narrows, and each narrowing cites what proves it.
 */
import type { Instant } from '../model/report.ts';
import { anyTime, atLeast, atMost, lapse, meet, type Span } from '../model/span.ts';

export interface Estimate {
  readonly client: Span;
  readonly node: Span;
  readonly basis: Instant['basis'];
  readonly evidence: readonly number[];
}

/** Nothing is known. */
export const unbounded: Estimate = { client: anyTime, node: anyTime, basis: 'inferred', evidence: [] };

export const onClient = (
  client: Span,
  evidence: readonly number[],
  basis: Instant['basis'] = 'inferred',
): Estimate => ({ client, node: anyTime, basis, evidence });

/** Both hold. The evidence of `by` is cited only where it narrows. */
export function narrowed(estimate: Estimate, by: Estimate): Estimate {
  const { client, node } = onBothClocks((clock) => meet(estimate[clock], by[clock]));
  const narrows = [
    client.lo > estimate.client.lo,
    client.hi < estimate.client.hi,
    node.lo > estimate.node.lo,
    node.hi < estimate.node.hi,
  ];
  if (!narrows.includes(true)) return estimate;
  return { ...estimate, client, node, evidence: cite(estimate.evidence, by.evidence) };
}

/** It followed an earlier moment, for which nothing is cited. */
export const narrowedByCause = (estimate: Estimate, cause: Estimate): Estimate =>
  narrowed(estimate, { ...notBefore(cause), evidence: [] });

export const onBothClocks = (spanOn: (clock: 'client' | 'node') => Span): Pick<Estimate, 'client' | 'node'> => ({
  client: spanOn('client'),
  node: spanOn('node'),
});

/** Moves an estimate by a stretch of `by` ms. */
export const moved = (estimate: Estimate, by: Span): Estimate => ({
  ...estimate,
  ...onBothClocks((clock) => ({ lo: estimate[clock].lo + by.lo, hi: estimate[clock].hi + by.hi })),
  basis: 'inferred',
});

/** The bound that a later moment puts on this one: it was not after it. */
export const notAfter = (later: Estimate): Estimate => ({
  ...later,
  ...onBothClocks((clock) => atMost(later[clock].hi)),
});

/** The bound that an earlier moment puts on this one: it was not before it. */
export const notBefore = (earlier: Estimate): Estimate => ({
  ...earlier,
  ...onBothClocks((clock) => atLeast(earlier[clock].lo)),
});

/** Certainly before, on either clock. */
export const isBefore = (a: Estimate, b: Estimate): boolean => a.client.hi < b.client.lo || a.node.hi < b.node.lo;

/** From one moment to a later one, in ms, by whichever clock knows it better. */
export function between(start: Estimate, end: Estimate): Span {
  const client = lapse(start.client, end.client);
  const node = lapse(start.node, end.node);
  const lo = Math.max(...[client.lo, node.lo].filter((one) => !Number.isNaN(one)), 0);
  const hi = Math.min(...[client.hi, node.hi].filter((one) => !Number.isNaN(one)));
  return { lo: Math.min(lo, hi), hi };
}

export const cite = (...lists: (readonly number[])[]): readonly number[] =>
  [...new Set(lists.flat())].sort((a, b) => a - b);

/** On the client's clock. `fallback` is used where nothing bounds it on one side. */
export function spanOf({ client }: Estimate, fallback: Span): Span {
  const lo = Number.isFinite(client.lo) ? client.lo : Math.min(fallback.lo, client.hi);
  return { lo, hi: Number.isFinite(client.hi) ? client.hi : Math.max(fallback.hi, lo) };
}

/** Client times are read to the millisecond. */
const tick = 1;

/**
 * What of a conclusion may be reported yet: no instant lies in the future of the newest observation. What is expected (a kill
 * at the end of the grace, the end of a `sleep` hook) is reported only once it must have happened; what has been observed
 * has, so its interval ends now at the latest.
 */
export function capAtNow({ now }: { readonly now: number }, estimate: Estimate | undefined): Estimate | undefined {
  if (!estimate) return undefined;
  const { lo, hi } = estimate.client;
  const latest = now + tick;
  if (hi <= latest) return estimate;
  if (!Number.isFinite(hi) || lo > latest || estimate.basis === 'inferred') return undefined;
  return { ...estimate, client: { lo, hi: latest } };
}
