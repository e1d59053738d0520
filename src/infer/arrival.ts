/** When a change of the API was written: no later than it arrived, and normally not long before. Client ms. */
import { millisecondsOf } from '../model/assumptions.ts';
import { offsetAt, withDates } from '../model/clock.ts';
import type { Gap, StreamName } from '../model/observation.ts';
import { resumesAt } from '../model/reduce/gaps.ts';
import { second, type Span } from '../model/span.ts';
import type { Fact, Seen, Trace } from '../model/trace.ts';
import type { PodNetwork } from './pod-network.ts';

/** At most the delivery lag before; after a cut, since then; in the first state that was seen, at any time before. */
export function writtenAt(trace: Trace, { seq, at }: Fact<unknown>, stream: StreamName): Span {
  const isOldNews = stream === 'pod' && trace.deletion?.underWay === true && seq === trace.deletion.seenSeq;
  return { lo: isOldNews ? -Infinity : deliverableSince(trace, stream, at) - deliveryLagOf(trace), hi: at + 1 };
}

/** A change of the API as a moment of the network. */
export interface ApiChange {
  readonly fact: Seen;
  /** Client ms. */
  readonly written: Span;
  readonly after?: readonly string[];
  /** Its timestamp, by the API server's clock or another one. */
  readonly stamp?: Span | undefined;
  readonly clock?: 'node' | 'api';
}

/** Constrains when a change was written: by its arrival, then by its causes and its timestamp. */
export function constrainChange(network: PodNetwork, name: string, change: ApiChange): void {
  const { fact, written, after = [], stamp, clock = 'api' } = change;
  const evidence = [fact.seq];
  network.within(name, { client: written }, { because: 'delivery-lag', evidence });
  for (const cause of after) network.follows(cause, name, {}, { because: 'an effect follows its cause' });
  if (stamp) network.stamp(clock, name, stamp, { because: 'the timestamp of the write', evidence });
}

/** Since when (client ms) a change may have waited for its stream: `at` or, after a cut or in a gap, since that. */
export function deliverableSince(trace: Trace, stream: StreamName, at: number): number {
  const hidden = trace.gaps.filter(({ value }) => value.stream === stream && hides(value, at));
  const since = resumesAt(trace, stream, at).map(({ value }) => value.since);
  return Math.min(at, ...since, ...hidden.map(({ value }) => value.from));
}

/** Whether a change that arrives in a gap, or by the list that ends it, may be older. Each log is its own stream. */
const hides = ({ stream, from, to = Infinity }: Gap, at: number): boolean =>
  at === to || (stream !== 'logs' && from <= at && at < to);

/** The longest time (ms) that a change takes on a live stream: `delivery-lag`, or more if server stamps prove that. */
export function deliveryLagOf({ clocks, delays: { longest } }: Trace): number {
  if (!longest) return assumedLagMs;
  const { lo, hi } = offsetAt(withDates(clocks.api, clocks.dates), longest.at);
  const [min, max] = [longest.value + lo, longest.value + second + hi];
  return min > assumedLagMs && min <= maxLagMs ? Math.min(max, maxLagMs) : assumedLagMs;
}

const assumedLagMs = millisecondsOf('delivery-lag');
const maxLagMs = 15_000;
