/** What somebody did who wanted a container that was dead to have been left running by a forced DELETE. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import { attached, containerOf, findingCodes, judged, markedIn, told } from '../../helpers/cases.ts';
import { dies, kubelet, pod } from '../../helpers/story-changes.ts';

/** `web` drains for 20 s, `worker` dies at once; somebody forces the deletion at 8 s. */
const forced: Partial<Story> = {
  containers: [plainContainer({ name: 'web', app: drains(20_000) }), plainContainer({ name: 'worker', app: dies })],
  ...pod({ graceSeconds: 30 }),
  later: [{ kind: 'delete', atMs: 8000, graceSeconds: 0 }],
};

describe('a container whose log ended long before the object was removed by force', () => {
  const sightings = told(forced);

  it.each([
    ['our own deletion', sightings],
    ['a deletion that is only watched', attached(sightings)],
  ])('was not left running (%s)', (_, all) => {
    const report = judged(all);
    expect(report.verdict.outcome).toBe('forced');
    expect(containerOf(report, 'web').outcome).toBe('abandoned');
    expect(containerOf(report, 'worker').outcome).toBe('unknown');
    const finding = report.verdict.findings.find(({ code }) => code === 'force-deleted');
    expect(finding?.message).toContain('web ran on');
    expect(finding?.message).not.toContain('worker');
  });

  it('makes no forced exit where it was the only one', () => {
    const report = judged(
      told({
        ...forced,
        containers: [plainContainer({ name: 'worker', app: dies })],
        ...kubelet({ sandboxMs: [20_000, 20_000] }),
      }),
    );
    expect(containerOf(report, 'worker').outcome).toBe('unknown');
    expect(findingCodes(report)).not.toContain('force-deleted');
  });

  it('may have been left where its log broke', () => {
    const at = markedIn(sightings).at;
    const broken = sightings.map((one) =>
      one.kind === 'log-ended' && one.container === 'worker' && one.at < at + 8000 ? { ...one, clean: false } : one,
    );
    const report = judged(broken);
    expect(containerOf(report, 'worker').outcome).toBe('abandoned');
    const finding = report.verdict.findings.find(({ code }) => code === 'force-deleted');
    expect(finding?.message).not.toContain('worker ran on');
  });
});
