/**
 * One look at the pod before a run says that it is still there: its stream may have died without a word, or have been away for
 * longer than the run waits.
 */
import type { Answer } from '../kube/cluster.ts';
import { look } from '../kube/look.ts';
import { millisecondsOf } from '../model/assumptions.ts';
import type { Run } from './live.ts';
import type { Raw } from './watched.ts';
import { asRaw, uidOf } from './watched.ts';

/** ms: nobody who named a time to wait wants to wait much longer. */
const patience = 1000;

/**
 * What it finds is told. Where nobody answers in time, or nothing that a pod could be told by, its stream is lost unless it has
 * just spoken: that it carries nothing says no more than the silence of the server.
 */
export async function lookOnceMore(run: Run): Promise<void> {
  const { clock, cluster } = run.options;
  if (!run.trace?.deletion || run.trace.gone) return;
  const tooLong = new AbortController();
  const cancel = clock.setTimeout(() => tooLong.abort(), patience);
  const begun = clock.now();
  const answer = await look(cluster, run.options, AbortSignal.any([run.signal, tooLong.signal])).finally(cancel);
  for (const sighting of answer?.dated ?? []) await run.deliver(sighting);
  const found = answer && readLook(answer);
  if (!found) return run.lanes.lose('pod', begun - millisecondsOf('delivery-lag'));
  if (!found.object || uidOf(found.object) !== run.trace.uid) await tellMissed(run, found.at);
  await run.deliver({ kind: 'looked', ...found });
}

type Look = { at: number; sentAt: number; object?: Raw };

/** The pod, or that there is none. A login page, a proxy's own words or a refusal say nothing of it. */
function readLook({ at, sentAt, status, body }: Answer): Look | undefined {
  const object = asRaw(body);
  if (status === 200 && object['kind'] === 'Pod') return { at, sentAt, object };
  return status === 404 && object['kind'] === 'Status' ? { at, sentAt } : undefined;
}

/** It is gone, and its stream did not say so: whatever came since it was last seen may be missing. */
async function tellMissed({ trace, deliver }: Run, at: number): Promise<void> {
  if (!trace || trace.gone) return;
  await deliver({ kind: 'gap', at, stream: 'pod', from: trace.pod?.at ?? at, to: at, cause: 'disconnected' });
}
