import type { ObservationOf } from '../observation.ts';
import type { Trace } from '../trace.ts';
import { factOf, note } from './notes.ts';

export function foldGap(trace: Trace, o: ObservationOf<'gap'>): Trace {
  const { seq: _seq, at: _at, ...gap } = o;
  return note({ ...trace, gaps: [...trace.gaps, factOf(gap, o)] }, o, `gap in ${o.stream}: ${o.cause}`);
}

/** A stream that is cut all day long is remembered by its last cuts. */
const mostResumes = 256;

export const foldResumed = (trace: Trace, o: ObservationOf<'resumed'>): Trace => ({
  ...trace,
  resumes: [...trace.resumes, factOf({ stream: o.stream, since: o.since }, o)].slice(-mostResumes),
});
