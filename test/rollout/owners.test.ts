/** Which owners a rollout follows. */
import { expect, it } from 'vitest';
import { followOwners, createProgress } from '../../src/run/progress/progress.ts';
import { ownerTargets } from '../../src/run/streams/watched.ts';

it('a CronJob, which owns a Job but is no workload, does not end the run', () => {
  const [cronJobs] = ownerTargets('shop', { kind: 'CronJob', name: 'nightly' });
  if (!cronJobs) throw new Error('CronJobs are not watched');
  const progress = createProgress(
    () => 0,
    () => {},
  );
  const target = { kind: 'workload', resource: 'jobs', name: 'nightly-1' } as const;
  const owners = followOwners(target, progress, { workload: () => {} }, () => {});
  const object = { kind: 'CronJob', metadata: { name: 'nightly', namespace: 'shop', uid: 'uid-nightly' } };
  owners.ownerSeen?.({ at: 1, kind: 'listed', stream: 'owner', resourceVersion: '1', objects: [object] }, cronJobs);
  owners.alive?.(cronJobs, false);
  expect(progress.pending()).toEqual(['job/nightly-1']);
  expect(progress.hasLostWatch()).toBe(false);
});
