/** Cases that try to make podexit report less than it knows, because of doubts without a reason. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../sim/plain-story.ts';
import type { Story } from '../sim/story.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import {
  adding,
  alone,
  changesOf,
  containerOf,
  ignoresSignal,
  editing,
  findingCodes,
  judged,
  markedIn,
  stampOf,
  storyObservations,
} from '../helpers/cases.ts';
import type { Raw } from '../helpers/cases.ts';
import { podBefore } from '../helpers/raw-edits.ts';
import { kubelet, pod } from '../helpers/story-changes.ts';

const widthOf = (report: ExitReport, name = 'app'): number => {
  const at = containerOf(report, name).exit?.at;
  return (Date.parse(at?.latest ?? '') - Date.parse(at?.earliest ?? '')) / 1000;
};

/** The end of the log (of one container, or of each) arrives this much later. */
const endingLate = (rawObservations: readonly RawObservation[], byMs: number, name?: string): RawObservation[] =>
  rawObservations
    .map((one) =>
      one.kind === 'log-ended' && (name ?? one.container) === one.container ? { ...one, at: one.at + byMs } : one,
    )
    .sort((a, b) => a.at - b.at);

const two = (): Partial<Story> => ({
  ...pod({ graceSeconds: 6 }),
  containers: [
    plainContainer({ name: 'web', app: drains(300) }),
    plainContainer({ name: 'legacy', app: ignoresSignal }),
  ],
});

describe('a log end that arrives late', () => {
  it.each(['web', 'legacy', undefined])(
    'changes neither outcome nor exit if there are several containers (late: %s)',
    (name) => {
      const report = judged(endingLate(storyObservations(two()), 5000, name));
      expect(containerOf(report, 'legacy').outcome).toBe('killed');
      expect(widthOf(report, 'web')).toBeLessThan(1.1);
    },
  );

  it('does not widen the exit if its connection broke and the sandbox is slow to stop', () => {
    const rawObservations = storyObservations(alone({ app: drains(1000) }, kubelet({ sandboxMs: [7000, 7000] })));
    const end = rawObservations.find(({ kind }) => kind === 'log-ended')?.at ?? NaN;
    const { at } = markedIn(rawObservations);
    const kept = rawObservations.filter(
      (one) => one.kind !== 'log-ended' && !(one.kind === 'line' && one.at > at + 200),
    );
    const report = judged(
      adding(
        kept,
        { at: at + 200, kind: 'log-ended', container: 'app', clean: false },
        { at: end + 5000, kind: 'log-opened', container: 'app' },
        { at: end + 5020, kind: 'log-ended', container: 'app', clean: true },
      ),
    );
    expect(widthOf(report)).toBeLessThan(1.1);
  });

  it('does not widen the exit if podexit itself stood still', () => {
    const rawObservations = storyObservations(alone({ app: drains(2000) }));
    const { at } = markedIn(rawObservations);
    const [since, to] = [at + 1000, at + 8000];
    const late = rawObservations.map((one) => (one.at > since && one.at < to ? { ...one, at: to } : one));
    const noticed = (['pod', 'events', 'endpointslices'] as const).map(
      (stream) => ({ at: to - 1, kind: 'resumed', stream, since }) satisfies RawObservation,
    );
    const report = judged([...late, ...noticed].sort((a, b) => a.at - b.at));
    expect(widthOf(report)).toBeLessThan(0.5);
  });
});

/** The same deletion with another grace period. */
function lasting(one: Raw, grace: number): Raw {
  const { deletionTimestamp, deletionGracePeriodSeconds } = one.metadata;
  if (typeof deletionGracePeriodSeconds !== 'number' || deletionGracePeriodSeconds === 0) return one;
  const asked = Date.parse(String(deletionTimestamp)) - deletionGracePeriodSeconds * 1000;
  const metadata = {
    ...one.metadata,
    deletionGracePeriodSeconds: grace,
    deletionTimestamp: stampOf(asked + grace * 1000),
  };
  return { ...one, metadata };
}

describe('a DELETE that is sent twice', () => {
  /** The server executes the first DELETE late; the second response has the pod after the kubelet's acknowledgment. */
  function twice(edit: (one: Raw) => Raw = (one) => one): RawObservation[] {
    const rawObservations = storyObservations({ network: { ...plainStory().network, watchMs: { pods: [150, 150] } } });
    const request = rawObservations.find((one) => one.kind === 'requested');
    const answer = rawObservations.find((one) => one.kind === 'answered');
    if (!request || !answer) throw new Error('nothing was asked');
    const { metadata } = markedIn(rawObservations).object;
    const later = changesOf(rawObservations, 'pod').find(
      ({ object }) =>
        object.metadata['deletionTimestamp'] !== undefined &&
        object.metadata['resourceVersion'] !== metadata['resourceVersion'],
    );
    const story = adding(
      rawObservations.filter((one) => one !== request && one !== answer),
      { ...request, at: request.at - 1000 },
      { at: request.at - 700, kind: 'looked', sentAt: request.at - 710, object: podBefore(rawObservations) },
      { ...request, at: request.at + 60 },
      { ...answer, at: request.at + 66, object: later?.object },
    );
    return editing(story, 'pod', edit);
  }

  it('may have been executed the first time', () => {
    const report = judged(twice());
    expect(report.trigger.kind).toBe('this-command');
    expect(findingCodes(report)).not.toContain('deleted-before');
  });

  it('came too late both times if the pod has another grace period', () => {
    const report = judged(twice((one) => lasting(one, 20)));
    expect(report.trigger.kind).toBe('unknown');
    expect(findingCodes(report)).toContain('deleted-before');
  });
});
