/**
 * One look at the pod before a run says that it is still there: its stream may have died silently, or have been away for
 * longer than the run waits.
 */
import type { Answer } from '../kube/cluster.ts';
import { look } from '../kube/get.ts';
import { millisecondsOf } from '../model/assumptions.ts';
import type { Trace } from '../model/trace.ts';
import type { Run } from './live-run.ts';
import type { Raw } from './watched.ts';
import { asRaw, uidOf } from './watched.ts';

/** ms: nobody who named a time to wait wants to wait much longer. */
const patience = 1000;

/**
 * What it finds is delivered. Without an answer in time, or with one that does not show the pod, its stream counts as lost unless it has
 * just spoken: that it carries nothing says no more than the silence of the server.
 */
export async function lookOnceMore(run: Run, key: string): Promise<void> {
  const { clock, cluster, several } = run.options;
  const trace = run.traceOf(key);
  const pod = trace?.pod?.value.metadata;
  if (!trace?.deletion || trace.gone || !pod) return;
  const ofPod = several ? { pod: key } : {};
  const place = { namespace: pod.namespace ?? run.options.namespace, name: pod.name };
  const tooLong = new AbortController();
  const cancel = clock.setTimeout(() => tooLong.abort(), patience);
  const begun = clock.now();
  const answer = await look(cluster, place, AbortSignal.any([run.signal, tooLong.signal])).finally(cancel);
  for (const sighting of answer?.dated ?? []) await run.deliver(sighting);
  const found = answer && readLook(answer);
  if (!found) return run.streams.lose(run.pods.stream, begun - millisecondsOf('delivery-lag'));
  if (!found.object || uidOf(found.object) !== trace.uid) await reportMissed(run, trace, found.at);
  await run.deliver({ kind: 'looked', ...found, ...ofPod });
}

type Look = { at: number; sentAt: number; object?: Raw };

/** The pod, or that there is none. A login page, a proxy's own answer or a refusal say nothing of it. */
function readLook({ at, sentAt, status, body }: Answer): Look | undefined {
  const object = asRaw(body);
  if (status === 200 && object['kind'] === 'Pod') return { at, sentAt, object };
  return status === 404 && object['kind'] === 'Status' ? { at, sentAt } : undefined;
}

/** It is gone, and its stream did not say so: whatever came since it was last seen may be missing. */
async function reportMissed({ deliver, pods, options: { several } }: Run, trace: Trace, at: number): Promise<void> {
  if (trace.gone) return;
  const ofPod = several ? { pod: trace.uid ?? '' } : {};
  await deliver({
    kind: 'gap',
    at,
    stream: pods.stream,
    ...ofPod,
    from: trace.pod?.at ?? at,
    to: at,
    cause: 'disconnected',
  });
}
