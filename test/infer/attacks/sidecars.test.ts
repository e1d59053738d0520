/** What somebody did who wanted a false sentence in a report: containers whose end or words are not their turn's. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../../sim/plain-story.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import { endedLikeLive } from '../../../src/run/replay.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import type { Raw } from '../../helpers/cases.ts';
import { containerOf, editing, findingCodes, judged, stampOf, told } from '../../helpers/cases.ts';
import { listenTo } from '../../helpers/prefixes.ts';
import { quiet } from '../../helpers/raw-edits.ts';
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

describe('a sidecar whose second was over before that of the main container began', () => {
  const all = told(beside(3000, {}));
  const terminated = (pod: Raw, list: string) =>
    (pod.status[list] as { state: { terminated?: { finishedAt: string } } }[] | undefined)?.[0]?.state.terminated;
  /** The sidecar ends so many seconds after the main container's. */
  const endingAfter = (seconds: number) =>
    editing(all, 'pod', (pod) => {
      const [main, sidecar] = [terminated(pod, 'containerStatuses'), terminated(pod, 'initContainerStatuses')];
      if (main && sidecar) sidecar.finishedAt = stampOf(Date.parse(main.finishedAt) + seconds * 1000);
      return pod;
    });

  it('ended before its turn, and got no signal, however the clocks stand', () => {
    for (const ms of [0, 500, 900]) {
      const report = judged(quiet(slower(endingAfter(-1), ms)));
      expect(containerOf(report, 'proxy').stopSignal).toBeUndefined();
      expect(report.phases.map(({ name, subject }) => `${name} ${subject}`)).not.toContain('drain proxy');
    }
  });

  it('got its signal where it ended in the same second, or later', () => {
    for (const seconds of [0, 1]) expect(containerOf(judged(endingAfter(seconds)), 'proxy').stopSignal).toBeDefined();
  });
});

/** All Events and states come so much later (ms): less is known of the node's clock. */
const slower = (sightings: readonly Sighting[], ms: number): Sighting[] =>
  sightings.map((one) => (one.kind === 'changed' ? { ...one, at: one.at + ms } : one)).sort((a, b) => a.at - b.at);
