/** What somebody did who wanted a false sentence in a report: the grace was lowered before the kubelet began. */
import { describe, expect, it } from 'vitest';
import { drains } from '../../../src/loopback/kubelet/plain-story.ts';
import type { AppStory } from '../../../src/loopback/kubelet/story.ts';
import { alone, containerOf, deaf, findingCodes, judged, storyReport, told, without } from '../../helpers/cases.ts';
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
    expect(messageOf(report, 'killed-at-grace')).toMatch(/^app did not exit within its grace of 1 s and was killed/);
    expect(report.grace).toMatchObject({ specSeconds: 30, effectiveSeconds: 1 });
  });

  it('counts for each share of it', () => {
    const report = lowered(drains(1500), 8000);
    expect(report.verdict.outcome).toBe('overran');
    expect(messageOf(report, 'grace-nearly-spent')).toMatch(/of 1 s$/);
    expect(report.phases.find(({ name }) => name === 'drain')?.ofGrace.min).toBeGreaterThan(1);
  });

  it('may be either where it is not known which came first', () => {
    const report = lowered(deaf, 1500);
    expect(messageOf(report, 'killed-at-grace')).toContain('within its grace of at most 30 s');
    expect(report.phases.find(({ name }) => name === 'drain')?.ofGrace.max).toBeGreaterThan(1);
  });
});

describe('a grace that was lowered after the kubelet began', () => {
  const own: AppStory = { onSignal: { kind: 'exits', afterMs: 2600, code: 137 }, lost: false, lines: [] };
  /** Somebody's DELETE left the pod 1 s, 1.3 s after ours had left it 6 s. */
  const late = (app: AppStory) =>
    told({
      ...alone({ app, logged: false }),
      ...pod({ graceSeconds: 6 }),
      ...asked(null),
      later: [{ kind: 'delete', atMs: 1300, graceSeconds: 1 }],
    });

  it('does not reach its kill: 137 before the first one ended is no kill', () => {
    const report = judged(late(own));
    expect(containerOf(report).outcome).toBe('failed');
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
