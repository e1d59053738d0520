/** What is known of one moment: its bounds on the client's clock and on the node's, which dates lengths exactly. */
import type { Instant } from '../model/report.ts';
import { anyTime, atMost, lapse, type Span } from '../model/span.ts';

export interface Estimate {
  readonly client: Span;
  readonly node: Span;
  readonly basis: Instant['basis'];
  readonly evidence: readonly number[];
}

/** An estimate without any bound. */
export const unbounded: Estimate = { client: anyTime, node: anyTime, basis: 'inferred', evidence: [] };

export const onClient = (
  client: Span,
  evidence: readonly number[],
  basis: Instant['basis'] = 'inferred',
): Estimate => ({ client, node: anyTime, basis, evidence });

export const onBothClocks = (spanOn: (clock: 'client' | 'node') => Span): Pick<Estimate, 'client' | 'node'> => ({
  client: spanOn('client'),
  node: spanOn('node'),
});

/** Moves an estimate to later by `duration` ms. */
export const moved = (estimate: Estimate, duration: Span): Estimate => ({
  ...estimate,
  ...onBothClocks((clock) => ({ lo: estimate[clock].lo + duration.lo, hi: estimate[clock].hi + duration.hi })),
  basis: 'inferred',
});

/** The estimate of a moment of which we only know that it was no later than `later`. */
export const noLaterThan = (later: Estimate): Estimate => ({
  ...later,
  ...onBothClocks((clock) => atMost(later[clock].hi)),
});

/** Whether `a` was certainly before `b`, as either clock shows. */
export const isBefore = (a: Estimate, b: Estimate): boolean => a.client.hi < b.client.lo || a.node.hi < b.node.lo;

/** How long one moment was before a later one, in ms: the tighter bounds of both clocks. */
export function between(start: Estimate, end: Estimate): Span {
  const client = lapse(start.client, end.client);
  const node = lapse(start.node, end.node);
  const hi = Math.min(client.hi, node.hi);
  return { lo: Math.min(Math.max(client.lo, node.lo), hi), hi };
}

export const cite = (...lists: (readonly number[])[]): readonly number[] =>
  [...new Set(lists.flat())].sort((a, b) => a - b);

/** The bounds on the client's clock. Where there is no bound, that of `fallback`. */
export function spanOf({ client }: Estimate, fallback: Span): Span {
  const lo = Number.isFinite(client.lo) ? client.lo : Math.min(fallback.lo, client.hi);
  return { lo, hi: Number.isFinite(client.hi) ? client.hi : Math.max(fallback.hi, lo) };
}

/** Whether it may be reported now: an observed moment has happened, an inferred one once its bounds are over. */
export const isPast = ({ client, basis }: Estimate, now: number): boolean =>
  client.hi <= now + 1 || (basis === 'observed' && Number.isFinite(client.hi));
