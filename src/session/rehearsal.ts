/**
 * The first conclusion about a deletion takes three times as long as the next ones, since nothing of it has run before, and
 * it is due just when most is to be told. So it is drawn once in advance, while the DELETE is on its way, of a deletion that
 * is only imagined, and thrown away (docs/bench.md).
 */
import { reduce } from '../trace/reduce.ts';
import { printTime } from '../trace/stamps.ts';
import type { Trace } from '../trace/trace.ts';
import type { Stage } from './audience.ts';
import type { Audience } from './run.ts';

/** The stage as the audience of a live run. */
export const rehearsing = (stage: Stage): Audience => ({
  step: (trace, observation) => {
    stage.step(trace, observation);
    // In the loop's next turn: the DELETE itself is written in this one.
    if (observation.kind === 'requested') setImmediate(() => stage.rehearse?.(imagined(trace, observation.seq + 1)));
  },
});

/** The trace as it may be when the pod has been marked. */
function imagined(trace: Trace, seq: number): Trace {
  const pod = trace.pod?.value;
  if (!pod || trace.deletion) return trace;
  const at = trace.now;
  const grace = pod.spec.terminationGracePeriodSeconds ?? 30;
  const metadata = {
    ...pod.metadata,
    resourceVersion: `${pod.metadata.resourceVersion ?? ''}0`,
    deletionTimestamp: printTime(at + grace * 1000, 'earlier'),
    deletionGracePeriodSeconds: grace,
  };
  return reduce(trace, {
    kind: 'changed',
    stream: 'pod',
    change: 'MODIFIED',
    seq,
    at,
    object: { ...pod, metadata },
  });
}
