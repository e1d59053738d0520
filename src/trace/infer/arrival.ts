/** When something that the API told was written: no later than it arrived, and not long before. */
import { millisecondsOf } from '../assumptions.ts';
import type { StreamName } from '../observation.ts';
import type { Fact, Trace } from '../trace.ts';
import type { Estimate } from './estimate.ts';
import { narrowed, notBefore, onClient } from './estimate.ts';

/**
 * A change told on `stream`, caused by what `cause` dates. A stream that had just been resumed delivers what happened
 * while it was cut; otherwise the assumed delivery lag bounds how old the news can be.
 */
export function arrival(trace: Trace, fact: Fact<unknown>, stream: StreamName, cause: Estimate): Estimate {
  const lag = millisecondsOf('delivery-lag');
  const resumed = trace.resumes.filter(
    (one) => one.value.stream === stream && one.at <= fact.at && fact.at <= one.at + lag,
  );
  const lo = Math.min(fact.at - lag, ...resumed.map((one) => one.value.since - lag));
  const told = onClient({ lo, hi: fact.at + 1 }, [fact.seq], 'observed');
  return narrowed(told, { ...notBefore(cause), evidence: [] });
}
