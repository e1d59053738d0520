import { millisecondsOf } from '../assumptions.ts';
import type { Gap, ObservationOf, StreamName } from '../observation.ts';
import type { Fact, Trace } from '../trace.ts';
import { factOf, note } from './notes.ts';

/** A server that loses its history all the time is remembered by its last losses. */
const mostGaps = 1024;

export function foldGap(trace: Trace, o: ObservationOf<'gap'>): Trace {
  const { seq: _seq, at: _at, ...gap } = o;
  // A log stream that does not open is reported at once, and again if the DELETE waited for it.
  if (gap.cause === 'not-synced' && gap.stream === 'logs' && trace.gaps.some(isLate(gap))) return trace;
  return note(
    { ...trace, gaps: [...trace.gaps, factOf(gap, o)].slice(-mostGaps) },
    o,
    `gap in ${o.stream}: ${o.cause}`,
  );
}

/** A stream that was not in sync when the DELETE had to be sent is now: what came before is in its list. */
export function closeLate(trace: Trace, lost: LostStream, at: number): Trace {
  const isIts = isLate(lost);
  if (!trace.gaps.some(isIts)) return trace;
  const gaps = trace.gaps.map((gap) => (isIts(gap) ? { ...gap, value: { ...gap.value, to: at } } : gap));
  return { ...trace, gaps };
}

/** A stream; of the logs, that of one container. */
type LostStream = Pick<Gap, 'stream' | 'container'>;

/** Not in sync yet; what names no container is said of all. */
const isLate =
  ({ stream, container }: LostStream) =>
  ({ value }: Fact<Gap>): boolean =>
    value.stream === stream &&
    value.cause === 'not-synced' &&
    value.to === undefined &&
    (value.container === undefined || value.container === container);

/** Something came on a stream that had just been resumed: it may be as old as the cut. */
export function foldLate(trace: Trace, stream: StreamName, at: number): Trace {
  const index = trace.resumes.findLastIndex(
    (one) => one.value.stream === stream && one.at <= at && at <= one.at + millisecondsOf('delivery-lag'),
  );
  const resume = trace.resumes[index];
  if (!resume || resume.value.late) return trace;
  return { ...trace, resumes: trace.resumes.with(index, { ...resume, value: { ...resume.value, late: true } }) };
}

/**
 * The pod's stream delivers a state that an answer held long ago: the server behind our watches was late, so what the other
 * streams delivered in that time may be as old.
 */
export function foldBehind(trace: Trace, o: ObservationOf<'changed'>): Trace {
  const version = o.stream === 'pod' ? o.object.metadata.resourceVersion : undefined;
  const answer = trace.requests.find((one) => one.answer?.value.pod?.metadata.resourceVersion === version)?.answer;
  if (
    version === undefined ||
    !answer ||
    o.at - answer.at <= millisecondsOf('delivery-lag') ||
    isResumed(trace, 'pod', o.at)
  )
    return trace;
  const behind = behindTogether.map((stream) => ({
    value: { stream, since: answer.at, until: o.at, late: true },
    seq: o.seq,
    at: answer.at,
  }));
  return { ...trace, resumes: [...trace.resumes, ...behind].slice(-mostResumes) };
}

/** What arrives now on the stream may be as old as its last cut. */
export const isResumed = ({ resumes }: Trace, stream: StreamName, at: number): boolean =>
  resumes.some(
    (one) =>
      one.value.stream === stream && one.at <= at && at <= (one.value.until ?? one.at) + millisecondsOf('delivery-lag'),
  );

/** One server answers all watches of a run. */
const behindTogether = ['pod', 'events', 'endpointslices', 'siblings'] as const;

/** A stream that is cut all day long is remembered by its last cuts. */
const mostResumes = 256;

export const foldResumed = (trace: Trace, o: ObservationOf<'resumed'>): Trace => ({
  ...trace,
  resumes: [...trace.resumes, factOf({ stream: o.stream, since: o.since, late: false }, o)].slice(-mostResumes),
});
