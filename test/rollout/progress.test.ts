/** How podexit decides that a rollout is over. */
import { describe, expect, it } from 'vitest';
import { createProgress } from '../../src/run/progress/progress.ts';
import { testEnv } from '../kube/helpers/env.ts';
import { stopping } from '../kube/helpers/take.ts';

const stuck = { metadata: { uid: 'u1', deletionTimestamp: '2031-01-01T00:00:00Z' } };
const env = testEnv({ speed: 20 });

/** The progress of a target whose owners are known. */
function begun(say = (_sentence: string): void => {}) {
  const progress = createProgress(() => 0, say);
  progress.ownersKnown();
  return progress;
}

/** Whether the rollout is over, after a little more than its settling time. */
const isOver = (progress: ReturnType<typeof createProgress>): Promise<boolean> =>
  Promise.race([
    progress.untilOver(env, stopping()).then(() => true),
    new Promise<false>((resolve) => env.after(8000, () => resolve(false))),
  ]);

it('is not over while a pod terminates', async () => {
  const progress = begun();
  progress.seen('u1', stuck);
  expect(await isOver(progress)).toBe(false);
});

it('is over if the trace of the pod has ended, even if the pod still exists and changes', async () => {
  const progress = begun();
  progress.seen('u1', stuck);
  progress.podTraced('u1');
  progress.seen('u1', stuck);
  expect(await isOver(progress)).toBe(true);
});

it('reports pending owners as TYPE/NAME', () => {
  const said: string[] = [];
  const progress = begun((sentence) => void said.push(sentence));
  progress.ownerSeen('deployment/checkout', false);
  progress.ownerSeen('job/a/b', false);
  progress.seen('u1', stuck);
  progress.podTraced('u1');
  expect(said).toEqual(['no pod is terminating now; waiting until deployment/checkout, job/a/b has rolled out']);
});

it('is over after a pod whose termination was not observed', async () => {
  const progress = begun();
  progress.begun();
  expect(await isOver(progress)).toBe(true);
});

it('is not over until the owners are known', async () => {
  const progress = createProgress(
    () => 0,
    () => {},
  );
  progress.seen('u1', stuck);
  progress.seen('u1', undefined);
  expect(await isOver(progress)).toBe(false);
});

describe('if the end of the rollout is unknown', () => {
  const living = (uid: string) => ({ metadata: { uid } });
  const terminate = (progress: ReturnType<typeof createProgress>, uid: string): void => {
    progress.seen(uid, { metadata: { uid, deletionTimestamp: '2031-01-01T00:00:00Z' } });
    progress.seen(uid, undefined);
  };
  /** A rollout in which one of two pods has ended. */
  const halfway = (reported: string[] = []) => {
    const progress = begun((sentence) => void reported.push(sentence));
    progress.ownerNotFollowed('CloneSet web is not followed');
    progress.ownerNotFollowed('CloneSet web is not followed');
    progress.listed(['u1', 'u2'].map(living));
    terminate(progress, 'u1');
    return progress;
  };
  const fast = testEnv({ speed: 300 });
  const howItEnds = (progress: ReturnType<typeof createProgress>) => {
    const stop = new AbortController();
    fast.after(300_000, () => stop.abort());
    return progress.untilOver(fast, stop.signal);
  };

  it('the reason is reported once, and the rollout lasts until the pods from the start are gone', async () => {
    const reported: string[] = [];
    const progress = halfway(reported);
    expect(reported).toEqual([expect.stringContaining('CloneSet web is not followed')]);
    expect(await isOver(progress)).toBe(false);
    terminate(progress, 'u2');
    expect(await isOver(progress)).toBe(true);
  });

  it('pods that were created later do not matter', async () => {
    const progress = halfway();
    progress.seen('u3', living('u3'));
    terminate(progress, 'u2');
    expect(await isOver(progress)).toBe(true);
  });

  it('a minute without a change of a pod ends it as "quiet"', async () => {
    expect(await howItEnds(halfway())).toBe('quiet');
  });

  it('a change restarts the minute', async () => {
    const progress = halfway();
    const change = (): void => {
      progress.seen('u2', living('u2'));
      if (fast.now() < began + 300_000) fast.after(15_000, change);
    };
    const began = fast.now();
    change();
    expect(await howItEnds(progress)).toBe('left');
  });

  it('the time of a lost watch does not count as quiet', async () => {
    const progress = halfway();
    progress.podsAlive?.(false);
    expect(await howItEnds(progress)).toBe('left');
    progress.podsAlive?.(true);
    expect(await howItEnds(progress)).toBe('quiet');
  });
});
