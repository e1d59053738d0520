/** When nothing more is to be expected of a rollout. */
import { expect, it } from 'vitest';
import { createProgress } from '../../src/session/rollout-progress.ts';
import { surroundings } from '../cluster/helpers/surroundings.ts';
import { stopping } from '../cluster/helpers/take.ts';

const stuck = { metadata: { uid: 'u1', deletionTimestamp: '2031-01-01T00:00:00Z' } };
const around = surroundings({ speed: 20 });

/** Whether it is over, by its own settling time and some. */
const isOver = (progress: ReturnType<typeof createProgress>): Promise<boolean> =>
  Promise.race([
    progress.untilOver(around, stopping()).then(() => true),
    new Promise<false>((resolve) => setTimeout(() => resolve(false), 400)),
  ]);

it('a pod that is terminating keeps it open', async () => {
  const progress = createProgress(() => 0);
  progress.podSeen('u1', stuck);
  expect(await isOver(progress)).toBe(false);
});

it('a pod that was given up on does not, though it is still there', async () => {
  const progress = createProgress(() => 0);
  progress.podSeen('u1', stuck);
  progress.podTraced('u1');
  expect(await isOver(progress)).toBe(true);
});

it('nor does what is heard of it after that', async () => {
  const progress = createProgress(() => 0);
  progress.podSeen('u1', stuck);
  progress.podTraced('u1');
  progress.podSeen('u1', stuck);
  expect(await isOver(progress)).toBe(true);
});

it('what is waited for is called as it is everywhere else', () => {
  const told: string[][] = [];
  const progress = createProgress(
    () => 0,
    (owners) => told.push(owners),
  );
  progress.ownerSeen('/apis/apps/v1/namespaces/shop/deployments/checkout', false);
  progress.ownerSeen('/apis/batch/v1/namespaces/shop/jobs/a%2Fb', false);
  progress.podSeen('u1', stuck);
  progress.podTraced('u1');
  expect(told).toEqual([['deployment/checkout', 'job/a/b']]);
});
