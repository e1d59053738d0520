/** What somebody did who wanted a false sentence in a report: sidecars whose end or words are not their turn's. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../../../src/loopback/kubelet/plain-story.ts';
import type { AppStory, Story } from '../../../src/loopback/kubelet/story.ts';
import { endedLikeLive } from '../../../src/session/replay.ts';
import { containerOf, findingCodes, told } from '../../helpers/cases.ts';
import { listenTo } from '../../helpers/prefixes.ts';
import { observationsOf } from '../../helpers/recordings.ts';
import { judgeStory } from '../../helpers/simulated.ts';

const beside = (drain: number, app: Partial<AppStory>, logged = false): Story =>
  plainStory({
    containers: [
      plainContainer({ app: drains(drain), logged }),
      plainContainer({
        name: 'proxy',
        kind: 'sidecar',
        app: { onSignal: { kind: 'exits', afterMs: 700, code: 0 }, lost: false, lines: [], ...app },
      }),
    ],
  });

describe('a sidecar that dies by itself', () => {
  const dying = (code: number, atMs: number) => judgeStory(beside(3000, { ownExit: { atMs, code } }));

  it.each([134, 139, 141, 143].flatMap((code) => [1500, 3050].map((atMs) => [code, atMs] as const)))(
    'of %i after %i ms proves nothing of the main container',
    (code, atMs) => {
      expect(dying(code, atMs).wrong).toEqual([]);
    },
  );

  it('of a signal that is no stop signal was not stopped by it', () => {
    const { report } = dying(139, 1500);
    expect(containerOf(report, 'proxy')).toMatchObject({ outcome: 'failed', exit: { code: 139 } });
    expect(containerOf(report, 'proxy').stopSignal).toBeUndefined();
    expect(findingCodes(report)).toContain('exit-nonzero');
  });

  it('of the stop signal, once it had its turn, did end by it', () => {
    const { report, wrong } = judgeStory(beside(3000, { onSignal: { kind: 'exits', afterMs: 2100, code: 143 } }));
    expect(wrong).toEqual([]);
    expect(containerOf(report, 'proxy')).toMatchObject({ outcome: 'signalled' });
    expect(containerOf(report, 'proxy').stopSignal).toBeDefined();
  });
});

describe('a sidecar that repeats the log of the application', () => {
  const tails = { bootLine: 'tail', lines: [{ atMs: 160, text: 'SIGTERM received, draining' }] };
  const cases = [400, 3000].flatMap((drain) => [false, true].map((logged) => [drain, logged] as const));

  it.each(cases)('does not tell its own signal (drain %i ms, application followed: %s)', (drain, logged) => {
    const story = {
      ...beside(drain, tails, logged),
      trigger: { kind: 'this-command', atMs: 1640, graceSeconds: null, uid: false } as const,
    };
    expect(judgeStory(story).wrong).toEqual([]);
    expect(listenTo(observationsOf([...endedLikeLive(told(story))]), () => undefined).broken).toEqual([]);
  });
});
