/** How podexit decides that a rollout is over. */
import { expect, it } from 'vitest';
import { createProgress } from '../../src/run/progress/progress.ts';
import { casesIn } from '../helpers/case-file.ts';
import { testEnv } from '../kube/helpers/env.ts';
import { stopping } from '../kube/helpers/observed.ts';

const env = testEnv({ speed: 20 });
const fast = testEnv({ speed: 300 });

interface Run {
  progress: ReturnType<typeof createProgress>;
  said: string[];
}

const podOf = (uid: string, more: object = {}) => ({ metadata: { uid, ...more } });

/** Whether the rollout is over, after a little more than its settling time. */
const isOver = ({ progress }: Run): Promise<boolean> =>
  Promise.race([
    progress.untilOver(env, stopping()).then(() => true),
    new Promise<false>((resolve) => env.after(8000, () => resolve(false))),
  ]);

/** Each step by its first word, with the rest of its text. */
const steps: Record<string, (run: Run, text: string) => unknown> = {
  owners: ({ progress }) => progress.ownersKnown(),
  begun: ({ progress }) => progress.begun(),
  pending: ({ progress }, owner) => progress.ownerSeen(owner, false),
  unfollowed: ({ progress }, reason) => progress.ownerNotFollowed(reason),
  listed: ({ progress }, uids) => progress.listed(uids.split(' ').map((uid) => podOf(uid))),
  alive: ({ progress }, uid) => progress.seen(uid, podOf(uid)),
  terminating: ({ progress }, uid) => progress.seen(uid, podOf(uid, { deletionTimestamp: '2031-01-01T00:00:00Z' })),
  gone: ({ progress }, uid) => progress.seen(uid, undefined),
  traced: ({ progress }, uid) => progress.podTraced(uid),
  watching: ({ progress }, again) => progress.podsAlive?.(again === 'again'),
  /** For five minutes. */
  changing({ progress }, uid) {
    const end = fast.now() + 300_000;
    const change = (): void => {
      progress.seen(uid, podOf(uid));
      if (fast.now() < end) fast.after(15_000, change);
    };
    change();
  },
  is: async (run, words) => expect(await isOver(run)).toBe(words === 'over'),
  async ends({ progress }, how) {
    const stop = new AbortController();
    fast.after(300_000, () => stop.abort());
    expect(await progress.untilOver(fast, stop.signal)).toBe(how);
  },
  said: ({ said }, text) => expect(said).toEqual([expect.stringContaining(text)]),
};

it.each(casesIn<string[]>(new URL('progress.yaml', import.meta.url)))('%s', async (_, told) => {
  const said: string[] = [];
  const run: Run = {
    progress: createProgress(
      () => 0,
      (sentence) => void said.push(sentence),
    ),
    said,
  };
  for (const step of told) {
    const [, word = '', text = ''] = /^(\w+) ?(.*)$/.exec(step) ?? [];
    await steps[word]?.(run, text);
    expect(steps).toHaveProperty(word);
  }
});
