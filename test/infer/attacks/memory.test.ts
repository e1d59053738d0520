/** What somebody did who wanted a false sentence in a report: OOMKilled, which stays from any earlier kill for memory. */
import { describe, expect, it } from 'vitest';
import { alone, containerOf, deaf, judged, told } from '../../helpers/cases.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import { endingAs } from '../../helpers/raw-edits.ts';
import { kubelet, pod } from '../../helpers/story-changes.ts';

const oom = (sightings: Sighting[]) => {
  const report = judged(endingAs(sightings, { reason: 'OOMKilled' }));
  const finding = report.verdict.findings.find(({ code }) => code === 'oom-on-exit');
  return { outcome: containerOf(report).outcome, container: containerOf(report), message: finding?.message };
};

describe('OOMKilled', () => {
  const onSignal = { kind: 'exits', afterMs: 300, code: 137 } as const;

  it('with an end where the grace ends: by the one or by the other', () => {
    const { outcome, message, container } = oom(told(alone({ app: deaf })));
    expect(outcome).toBe('unknown');
    expect(message).toMatch(/SIGKILLed, out of memory or at the end of its grace period/);
    expect(container.kill).toBeUndefined();
  });

  it('with an end after the grace, within the least that is left after a signal: nobody can say that nothing was killed', () => {
    const story = {
      ...alone({ app: { onSignal: { kind: 'exits', afterMs: 1900, code: 137 }, lost: false, lines: [] } }),
      ...pod({ graceSeconds: 1 }),
    };
    expect(judged(endingAs(told(story), { reason: 'OOMKilled' })).verdict).toMatchObject({
      outcome: 'unknown',
      exitCode: 4,
    });
  });

  it('well inside the grace, after it was asked to stop: while it was exiting', () => {
    const { outcome, message } = oom(told(alone({ app: { onSignal, lost: false, lines: [] } })));
    expect(outcome).toBe('oom');
    expect(message).toBe('app was OOMKilled while it was shutting down');
  });

  it('before the kubelet began with it: not while it was exiting', () => {
    const app = { onSignal, ownExit: { atMs: 700, code: 137 }, lost: false, lines: [] };
    const { outcome, message } = oom(told({ ...alone({ app }), ...kubelet({ noticeMs: [2000, 2000] }) }));
    expect(outcome).toBe('oom');
    expect(message).toMatch(/nothing shows that it had been asked to stop/);
  });
});
