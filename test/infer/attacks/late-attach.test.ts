/** What somebody did who wanted a false sentence in a report: the run came when most of the deletion was over. */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/model/observation.ts';
import { drains, plainContainer } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import {
  alone,
  attached,
  changesOf,
  comingAt,
  containerOf,
  deaf,
  editing,
  findingCodes,
  hasMark,
  judged,
  markedIn,
  markOf,
  stampOf,
  told,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';
import { kubelet, pod, somebody } from '../../helpers/story-changes.ts';

const removedAt = (all: readonly Sighting[]): number =>
  changesOf(all, 'pod').find(({ change }) => change === 'DELETED')?.at ?? NaN;

const story = (change: Partial<Story>): Sighting[] => attached(told({ ...somebody, ...change }));

/** It comes 0.3 s before the object goes, and no Killing is told. */
const atTheEnd = (all: readonly Sighting[]): Sighting[] =>
  comingAt(
    removedAt(all) - 300,
    editing(all, 'events', () => undefined),
  );

const neverAgain = (all: readonly Sighting[]): Sighting[] =>
  editing(all, 'pod', (one) => ({ ...one, spec: { ...one.spec, restartPolicy: 'Never' } }));

describe('a pod that is finished at first sight, and was deleted with a grace', () => {
  it.each([
    ['was killed', deaf, ['killed', 'unknown']],
    ['failed', drains(2000, 1), ['failed', 'unknown']],
    ['ended in order', drains(2000), ['completed', 'unknown']],
  ])('is not one that did not run: it %s', (_, app, outcomes) => {
    const all = story(alone({ app }));
    for (const sightings of [atTheEnd(all), atTheEnd(neverAgain(all))]) {
      const report = judged(sightings);
      expect(outcomes).toContain(containerOf(report).outcome);
      expect(report.verdict.outcome).not.toBe('removed');
    }
  });

  it('failed during the deletion, where nothing would have started it again', () => {
    const report = judged(atTheEnd(neverAgain(story(alone({ app: drains(2000, 1) })))));
    expect(containerOf(report).outcome).toBe('failed');
    expect(report.verdict.outcome).toBe('failed');
  });

  it('may have ended before, where another one was still to start', () => {
    const all = story({ containers: ['app', 'other'].map((name) => plainContainer({ name, app: drains(2000, 1) })) });
    const sightings = editing(atTheEnd(neverAgain(all)), 'pod', (one) => {
      for (const { name, state } of statusesIn(one))
        if (name === 'other' && state['terminated'])
          state['terminated'] = { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null };
      return one;
    });
    expect(containerOf(judged(sightings)).outcome).toBe('unknown');
  });

  it('may have been one that waited to be started again', () => {
    const all = story(alone({ app: drains(2000) }));
    const crashed = editing(all, 'pod', (one, { at }) => {
      for (const { state } of statusesIn(one))
        if (state['terminated']) Object.assign(state['terminated'], { exitCode: 2, finishedAt: stampOf(at - 600_000) });
      return one;
    });
    expect(['unknown', 'not-running']).toContain(containerOf(judged(atTheEnd(crashed))).outcome);
  });
});

describe('a pod that is finished at first sight, with no grace left', () => {
  const held = { ...alone({ app: drains(2000, 1) }), ...pod({ finalizers: ['example.com/audit'] }) };
  const all = story({ ...held, later: [{ kind: 'remove-finalizers', atMs: 30_000 }] });
  const late = comingAt(
    removedAt(all) - 5000,
    all.filter((one) => !('stream' in one && one.stream === 'events')),
  );

  it('may have ended during the deletion, or before it', () => {
    expect(containerOf(judged(late)).outcome).toBe('unknown');
    expect(judged(late).verdict.outcome).toBe('unknown');
  });

  it('had ended before, where its last status does not know of the deletion', () => {
    const unaware = editing(late, 'pod', (one: Raw) => ({
      ...one,
      status: { ...one.status, observedGeneration: Number(one.metadata['generation']) - 1 },
    }));
    expect(containerOf(judged(unaware)).outcome).toBe('not-running');
    expect(judged(unaware).verdict.outcome).toBe('removed');
  });
});

it('what a first look finds of the kubelet may be as old as the deletion', () => {
  const all = story(alone({ app: deaf }, pod({ graceSeconds: 30 })));
  const marked = markedIn(all).at;
  const report = judged(
    comingAt(
      marked + 14_000,
      editing(all, 'events', () => undefined),
    ),
  );
  expect(Date.parse(markOf(report, 'acknowledged').at.earliest)).toBeLessThanOrEqual(marked + 50);
  expect(hasMark(report, 'acknowledged')).toBe(true);
});

describe('a kubelet whose signs a first look finds', () => {
  const slow = (noticeMs: number) =>
    story({ ...alone({ app: deaf }), ...pod({ graceSeconds: 30 }), ...kubelet({ noticeMs: [noticeMs, noticeMs] }) });
  const late = (all: readonly Sighting[], after: number) => judged(comingAt(markedIn(all).at + after, all));
  const unacknowledged = (all: readonly Sighting[]): Sighting[] =>
    editing(all, 'pod', (one) => {
      const { observedGeneration: _, ...status } = one.status;
      return { ...one, status };
    });

  it('was not silent until then', () => {
    expect(findingCodes(late(slow(10), 14_000))).not.toContain('node-silent');
    expect(findingCodes(late(unacknowledged(slow(10)), 14_000))).not.toContain('node-silent');
    expect(
      findingCodes(
        late(
          editing(slow(10), 'events', () => undefined),
          14_000,
        ),
      ),
    ).not.toContain('node-silent');
  });

  it('was silent for as long as its first Event proves', () => {
    const [message] = late(unacknowledged(slow(20_000)), 24_000).verdict.findings.flatMap((one) =>
      one.code === 'node-silent' ? [one.message] : [],
    );
    expect(message).toContain('did not respond for at least 1');
  });

  it('is silent where nothing was found', () => {
    expect(findingCodes(late(slow(20_000), 14_000))).toContain('node-silent');
  });
});
