/** What somebody did who wanted a false sentence in a report: the grace was lowered before the kubelet began. */
import { describe, expect, it } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { AppStory } from '../../sim/story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import {
  adding,
  alone,
  changed,
  containerOf,
  deaf,
  findingCodes,
  judged,
  markedIn,
  storyReport,
  told,
  without,
} from '../../helpers/cases.ts';
import { asked, kubelet, pod } from '../../helpers/story-changes.ts';

/** Our DELETE left the pod its 30 s, somebody's left it 1 s 0.4 s later, and the kubelet began after `noticeMs`. */
const lowered = (app: AppStory, noticeMs: number) =>
  storyReport({
    ...alone({ app }),
    ...pod({ graceSeconds: 30 }),
    ...asked(null),
    later: [{ kind: 'delete', atMs: 400, graceSeconds: 1 }],
    ...kubelet({ noticeMs: [noticeMs, noticeMs] }),
  });

const messageOf = (report: ReturnType<typeof lowered>, code: string) =>
  report.verdict.findings.find((finding) => finding.code === code)?.message;

describe('a grace that was lowered before the kubelet began', () => {
  it('is the one that the kubelet counted', () => {
    const report = lowered(deaf, 8000);
    expect(report.verdict.outcome).toBe('killed');
    expect(messageOf(report, 'killed-at-grace')).toMatch(
      /^app was SIGKILLed .* after SIGTERM, when its 1s grace period ended/,
    );
    expect(report.grace).toMatchObject({ specSeconds: 30, effectiveSeconds: 1 });
  });

  it('counts for each share of it', () => {
    const report = lowered(drains(1500), 8000);
    expect(report.verdict.outcome).toBe('overran');
    expect(messageOf(report, 'grace-nearly-spent')).toMatch(/past its 1s grace period \(not killed\)$/);
    expect(report.phases.find(({ name }) => name === 'drain')?.ofGrace.min).toBeGreaterThan(1);
  });

  it('may be either where it is not known which came first', () => {
    const report = lowered(deaf, 1500);
    expect(messageOf(report, 'killed-at-grace')).toContain('when its 1–30s grace period ended');
    expect(report.phases.find(({ name }) => name === 'drain')?.ofGrace.max).toBeGreaterThan(1);
  });
});

describe('a grace that was lowered just before the kubelet began, after a probe had told that it knew', () => {
  /** Lowered to 1 s 1.3 s after the DELETE, begun with at `noticeMs`; the pod's stream is held up from then until `heldMs` later. */
  function toldLate(noticeMs: number, heldMs: number) {
    const sightings = told({
      ...alone({ app: deaf, logged: false }),
      ...pod({ graceSeconds: 30 }),
      ...asked(null),
      later: [{ kind: 'delete', atMs: 1300, graceSeconds: 1 }],
      ...kubelet({ noticeMs: [noticeMs, noticeMs] }),
    });
    const { at, object } = markedIn(sightings);
    const time = new Date(Math.floor((at + 1000) / 1000) * 1000).toISOString().replace('.000', '');
    const fields = object.metadata['managedFields'] as { subresource?: string }[];
    const managedFields = fields.map((one) => (one.subresource === 'status' ? { ...one, time } : one));
    const probed = changed(at + 600, 'pod', {
      ...object,
      metadata: { ...object.metadata, managedFields },
      status: { ...object.status, observedGeneration: object.metadata['generation'] },
    });
    const until = at + 1300 + heldMs;
    const isHeld = (one: Sighting): boolean =>
      one.kind === 'changed' && ['pod', 'siblings'].includes(one.stream) && one.at > at && one.at < until;
    const late = sightings.map((one) => (isHeld(one) ? { ...one, at: until } : one));
    return judged(adding(late, probed).sort((a, b) => a.at - b.at));
  }

  it.each([
    [1600, 0],
    [1600, 400],
    [3000, 2000],
  ])('may be what it killed by: no failure is told (it began at %d ms, news was late by %d)', (noticeMs, heldMs) => {
    expect(['killed', 'unknown']).toContain(containerOf(toldLate(noticeMs, heldMs)).outcome);
  });
});

describe('a grace that was lowered after the kubelet began', () => {
  const own: AppStory = { onSignal: { kind: 'exits', afterMs: 2600, code: 137 }, lost: false, lines: [] };
  /** Somebody's DELETE left the pod 1 s, `atMs` after ours had left it 6 s. */
  const late = (app: AppStory, atMs = 1300) =>
    told({
      ...alone({ app, logged: false }),
      ...pod({ graceSeconds: 6 }),
      ...asked(null),
      later: [{ kind: 'delete', atMs, graceSeconds: 1 }],
    });

  it('does not reach its kill: 137 before the first one ended is no kill', () => {
    const report = judged(late({ ...own, onSignal: { kind: 'exits', afterMs: 4600, code: 137 } }, 3300));
    expect(containerOf(report).outcome).toBe('failed');
    expect(findingCodes(report)).not.toContain('killed-at-grace');
  });

  it('may have reached it where news of it may have been on its way for as long as that: no stream is in time with others', () => {
    const report = judged(late(own));
    expect(containerOf(report).outcome).toBe('unknown');
    expect(findingCodes(report)).not.toContain('killed-at-grace');
  });

  it('may have reached it where no Killing tells, and only a status that a probe may have brought', () =>
    expect(containerOf(judged(without(late(own), 'events'))).outcome).toBe('unknown'));

  it('leaves what ended in the first one graceful, and what it ended killed', () => {
    const { outcome } = judged(late({ ...own, onSignal: { kind: 'exits', afterMs: 2600, code: 0 } })).verdict;
    expect(outcome).toBe('graceful');
    expect(judged(late(deaf)).verdict.outcome).toBe('killed');
  });
});
