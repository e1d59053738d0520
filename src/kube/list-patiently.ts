/** One list that a run wants, however busy the server is: what passes is waited out as `decide` has it for watches. */
import type { Sighting } from '../model/observation.ts';
import type { Cluster } from './cluster.ts';
import { decide, pick } from './decide.ts';
import type { Outcome } from './decide.ts';
import { TransportFailure, isUntrusted } from './http/failure.ts';
import { listObjects } from './list.ts';
import type { ListResult } from './list.ts';
import { passed } from './surroundings.ts';
import { stopError } from './trouble.ts';
import type { WatchTarget } from './watch-target.ts';

interface Options {
  signal: AbortSignal;
  /** Gets the `Date` of each answer. */
  tell(sighting: Sighting): Promise<void>;
}

/**
 * The list, or what refuses it for good; undefined on abort, and when the cluster is closed. Throws PodexitError
 * `auth.unauthorized`, `server.untrusted`, `server.not-kubernetes`, or `server.unreachable` where no request of this run was ever answered.
 */
export async function listPatiently(
  cluster: Cluster,
  target: WatchTarget,
  { signal, tell }: Options,
): Promise<ListResult | undefined> {
  let foreign = 0;
  for (let failures = 0; ; failures++) {
    const result = await attempt(cluster, target, signal);
    if (signal.aborted || cluster.closed.aborted) return undefined;
    if (!('failure' in result)) for (const dated of result.dated) await tell(dated);
    if (result.kind === 'listed') return result;
    const next = decide(result.outcome, {
      failures,
      behind: 0,
      relists: 0,
      foreign,
      reached: cluster.memory.reached,
    });
    foreign = result.outcome.kind === 'foreign' ? foreign + 1 : 0;
    if (next.next === 'stop') throw stopError(cluster, next.because, 'failure' in result ? result.failure : undefined);
    if (next.next === 'refuse') return 'failure' in result ? undefined : result;
    const ms = pick(next.wait, cluster.surroundings.random());
    if (!(await passed(cluster.surroundings, ms, AbortSignal.any([signal, cluster.closed])))) return undefined;
  }
}

interface Unanswered {
  kind: 'unanswered';
  outcome: Outcome;
  failure: TransportFailure;
}

async function attempt(cluster: Cluster, target: WatchTarget, signal: AbortSignal): Promise<ListResult | Unanswered> {
  try {
    return await listObjects(cluster, target, { signal });
  } catch (failure) {
    if (!(failure instanceof TransportFailure)) throw failure;
    return { kind: 'unanswered', outcome: { kind: 'unanswered', untrusted: isUntrusted(failure) }, failure };
  }
}
