/** Stretches of a lane: what each is, and its edges as certain as they are. */
import type { Estimate } from '../infer/estimate.ts';
import type { Zero } from './moments.ts';
import { decimalsOf, signed } from './moments.ts';

/** What a stretch is, each with a look of its own (bar.ts). */
export type StretchKind =
  /** Up, and nothing has been done to it yet. */
  | 'alive'
  | 'hook'
  | 'turn'
  | 'drain'
  /** Traffic is sent there. */
  | 'routed'
  | 'terminating'
  | 'cleanup'
  | 'ready';

/** Both edges in ms; between `lo` and `hi` an edge is uncertain. Without an end it goes on. */
export interface Stretch {
  readonly kind: StretchKind;
  readonly from: Edge;
  readonly to?: Edge;
}

export interface Edge {
  readonly lo: number;
  readonly hi: number;
}

export const stretch = (kind: StretchKind, from: Edge, to?: Edge): Stretch => ({ kind, from, ...(to ? { to } : {}) });

/** What was seen stands where it arrived, as in the lines; what is inferred keeps its width. */
export function edgeOf({ client, basis }: Estimate): Edge {
  if (basis === 'observed' || !Number.isFinite(client.lo)) return edgeAt(client.hi);
  return { lo: client.lo, hi: client.hi };
}

export const edgeAt = (time: number): Edge => ({ lo: time, hi: time });

export function middle(estimate: Estimate): number {
  const { lo, hi } = edgeOf(estimate);
  return (lo + hi) / 2;
}

/** `+0.02`, `~+3.1`. */
export function timeText(estimate: Estimate, zero: Zero): string {
  const { basis } = estimate;
  const moment = { ...edgeOf(estimate), basis };
  return `${basis === 'inferred' ? '~' : ''}${signed((middle(estimate) - zero.at) / 1000, Math.min(2, decimalsOf(moment)))}`;
}
