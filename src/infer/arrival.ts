/** When something that the API reported was written: no later than it arrived, and not long before. */
import { millisecondsOf } from '../model/assumptions.ts';
import { offsetAt, withDates } from '../model/clock.ts';
import type { Gap, StreamName } from '../model/observation.ts';
import { second } from '../model/span.ts';
import type { Fact, Trace } from '../model/trace.ts';
import { narrowedByCause, onClient, type Estimate } from './estimate.ts';

/**
 * When a change that arrived on `stream` was written. `cause`: what it cannot precede. A stream that had just been resumed delivers what happened
 * while it was cut, and what a first look finds may be as old as its cause; otherwise the assumed delivery lag bounds how
 * old the news can be.
 */
export function arrival(trace: Trace, fact: Fact<unknown>, stream: StreamName, cause: Estimate): Estimate {
  const lo = isOldNews(trace, fact, stream)
    ? -Infinity
    : deliverableSince(trace, stream, fact.at) - deliveryLagOf(trace);
  const arrived = onClient({ lo, hi: fact.at + 1 }, [fact.seq], 'observed');
  return narrowedByCause(arrived, cause);
}

/** A run that came to a deletion under way does not learn from its first look at the pod since when that was so. */
const isOldNews = ({ deletion }: Trace, { seq }: Fact<unknown>, stream: StreamName): boolean =>
  stream === 'pod' && deletion?.underWay === true && seq === deletion.seenSeq;

/**
 * The earliest that what arrived at `at` could have arrived on a stream that was never cut (client ms): `at`, or when a
 * stream that had just been resumed, or listed again, or whose gap still lasts, had last been alive.
 */
export function deliverableSince(trace: Trace, stream: StreamName, at: number): number {
  const resumed = trace.resumes.filter(
    (one) => one.value.stream === stream && one.at <= at && at <= (one.value.until ?? one.at) + assumed,
  );
  const hidden = trace.gaps.filter(({ value }) => value.stream === stream && hides(value, at));
  return Math.min(at, ...resumed.map(({ value }) => value.since), ...hidden.map(({ value }) => value.from));
}

/**
 * What arrives in a gap, or by the list that ends it, may have happened at any time since the gap began. Each container's log
 * is a stream of its own: a gap in one lasts beside the others.
 */
const hides = ({ stream, from, to = Infinity }: Gap, at: number): boolean =>
  at === to || (stream !== 'logs' && from <= at && at < to);

/**
 * ms: the longest that a change takes to arrive on a stream that is alive: `delivery-lag`, or where the server's own stamps prove
 * more, the most that they allow. A stamp that seems older than `slowest` is of a clock that was set back.
 */
export function deliveryLagOf({ clocks, delays: { longest } }: Trace): number {
  if (!longest) return assumed;
  const known = measured.get(longest);
  if (known?.clocks === clocks) return known.lag;
  const { lo, hi } = offsetAt(withDates(clocks.api, clocks.dates), longest.at);
  const [least, most] = [longest.value + lo, longest.value + second + hi];
  const lag = least > assumed && least <= slowest ? Math.min(most, slowest) : assumed;
  measured.set(longest, { clocks, lag });
  return lag;
}

const assumed = millisecondsOf('delivery-lag');

/** ms */
const slowest = 15_000;

/** For each measurement the lag that follows from it, and from what was known of the clocks. */
const measured = new WeakMap<Fact<number>, { readonly clocks: Trace['clocks']; readonly lag: number }>();
