/**
 * One look at the pod before a run says that it is still there: its stream may have died without a word, or have been away for
 * longer than the run waits.
 */
import { look } from '../cluster/look.ts';
import type { Run } from './live.ts';
import { asRaw, uidOf } from './watched.ts';

/** ms: nobody who named a time to wait wants to wait much longer. */
const patience = 1000;

/** What it finds is told; nothing where nobody answers in time, or nothing that a pod could be told by. */
export async function lookOnceMore(run: Run): Promise<void> {
  const { clock, cluster } = run.options;
  if (!run.trace?.deletion || run.trace.gone) return;
  const tooLong = new AbortController();
  const cancel = clock.setTimeout(() => tooLong.abort(), patience);
  const answer = await look(cluster, run.options, AbortSignal.any([run.signal, tooLong.signal])).finally(cancel);
  if (!answer) return;
  const { at, sentAt, status, body, dated } = answer;
  for (const sighting of dated) await run.deliver(sighting);
  const pod = asRaw(body)['kind'] === 'Pod' && status === 200 ? asRaw(body) : undefined;
  // A login page, or a proxy's own words, say nothing of the pod.
  const isNowhere = status === 404 && asRaw(body)['kind'] === 'Status';
  if (isNowhere || (pod && uidOf(pod) !== run.trace.uid)) await tellMissed(run, at);
  if (isNowhere) await run.deliver({ kind: 'looked', at, sentAt });
  if (pod) await run.deliver({ kind: 'looked', at, sentAt, object: pod });
}

/** It is gone, and its stream did not say so: whatever came since it was last seen may be missing. */
async function tellMissed({ trace, deliver }: Run, at: number): Promise<void> {
  if (!trace || trace.gone) return;
  await deliver({ kind: 'gap', at, stream: 'pod', from: trace.pod?.at ?? at, to: at, cause: 'disconnected' });
}
