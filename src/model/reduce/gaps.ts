import { millisecondsOf } from '../assumptions.ts';
import type { Gap, ObservationOf, StreamName } from '../observation.ts';
import type { Fact, Trace } from '../trace.ts';
import { factOf, addNote } from './notes.ts';

export function foldGap(trace: Trace, o: ObservationOf<'gap'>): Trace {
  const { seq: _seq, at: _at, ...gap } = o;
  // A log stream that does not open is reported at once, and once more if the DELETE waits for it.
  if (gap.cause === 'not-synced' && gap.stream === 'logs' && trace.gaps.some(isNotSynced(gap))) return trace;
  return addNote({ ...trace, gaps: [...trace.gaps, factOf(gap, o)].slice(-1024) }, o, `gap in ${o.stream}: ${o.cause}`);
}

/** A stream that was not in sync for the DELETE is in sync now: its list shows what came before. */
export function closeGaps(trace: Trace, lost: LostStream, at: number): Trace {
  const isOpenGap = isNotSynced(lost);
  if (!trace.gaps.some(isOpenGap)) return trace;
  const gaps = trace.gaps.map((gap) => (isOpenGap(gap) ? { ...gap, value: { ...gap.value, to: at } } : gap));
  return { ...trace, gaps };
}

type LostStream = Pick<Gap, 'stream' | 'container'>;

/** Matches open `not-synced` gaps of the stream; a gap without a container applies to all. */
const isNotSynced =
  ({ stream, container }: LostStream) =>
  ({ value }: Fact<Gap>): boolean =>
    value.stream === stream &&
    value.cause === 'not-synced' &&
    value.to === undefined &&
    (value.container === undefined || value.container === container);

/** Marks that a stream delivered something right after it was resumed: it may be as old as the interruption. */
export function foldLate(trace: Trace, stream: StreamName, at: number): Trace {
  const resume = resumesAt(trace, stream, at).at(-1);
  if (!resume || resume.value.late) return trace;
  const late = { ...resume, value: { ...resume.value, late: true } };
  return { ...trace, resumes: trace.resumes.map((one) => (one === resume ? late : one)) };
}

/** A state that an answer contained long before: the server was behind, and other streams may be as old. */
export function foldBehind(trace: Trace, o: ObservationOf<'changed'>): Trace {
  const version = o.stream === 'pod' ? o.object.metadata.resourceVersion : undefined;
  const answer = trace.requests.find((one) => one.answer?.value.pod?.metadata.resourceVersion === version)?.answer;
  if (
    version === undefined ||
    !answer ||
    o.at - answer.at <= millisecondsOf('delivery-lag') ||
    resumesAt(trace, 'pod', o.at).length > 0
  )
    return trace;
  const behind = (['pod', 'events', 'endpointslices', 'siblings'] as const).map((stream) => ({
    value: { stream, since: answer.at, until: o.at, late: true },
    seq: o.seq,
    at: answer.at,
  }));
  return { ...trace, resumes: [...trace.resumes, ...behind].slice(-maxResumes) };
}

/** The interruptions of a stream that what arrives at `at` may be as old as. */
export const resumesAt = ({ resumes }: Trace, stream: StreamName, at: number): Trace['resumes'] =>
  resumes.filter(
    (one) =>
      one.value.stream === stream && one.at <= at && at <= (one.value.until ?? one.at) + millisecondsOf('delivery-lag'),
  );

/** A stream may be interrupted again and again: the last times are kept. */
const maxResumes = 256;

export const foldResumed = (trace: Trace, o: ObservationOf<'resumed'>): Trace => ({
  ...trace,
  resumes: [...trace.resumes, factOf({ stream: o.stream, since: o.since, late: false }, o)].slice(-maxResumes),
});
