/** What somebody did who wanted podexit to say less than it knows: doubts where nothing is in doubt. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../../../src/loopback/kubelet/plain-story.ts';
import type { Story } from '../../../src/loopback/kubelet/story.ts';
import type { Sighting } from '../../../src/trace/observation.ts';
import type { ExitReport } from '../../../src/trace/report.ts';
import { adding, alone, containerOf, deaf, judged, markedIn, recorded, told } from '../../helpers/cases.ts';
import { judgeStory } from '../../helpers/simulated.ts';
import { kubelet, pod } from '../../helpers/story-changes.ts';

const widthOf = (report: ExitReport, name = 'app'): number => {
  const at = containerOf(report, name).exit?.at;
  return (Date.parse(at?.latest ?? '') - Date.parse(at?.earliest ?? '')) / 1000;
};

const causesOf = ({ gaps }: ExitReport) => gaps.map(({ cause }) => cause);

/** The log's end, of one container or of each, is told that much later. */
const endingLate = (sightings: readonly Sighting[], byMs: number, name?: string): Sighting[] =>
  sightings
    .map((one) =>
      one.kind === 'log-ended' && (name ?? one.container) === one.container ? { ...one, at: one.at + byMs } : one,
    )
    .sort((a, b) => a.at - b.at);

const two = (): Partial<Story> => ({
  ...pod({ graceSeconds: 6 }),
  containers: [plainContainer({ name: 'web', app: drains(300) }), plainContainer({ name: 'legacy', app: deaf })],
});

describe("a log's end that is told late is no clock that was set", () => {
  it.each(['web', 'legacy', undefined])('of several containers: %s', (name) => {
    const report = judged(endingLate(told(two()), 5000, name));
    expect(causesOf(report)).not.toContain('clock-doubtful');
    expect(containerOf(report, 'legacy').outcome).toBe('killed');
    expect(widthOf(report, 'web')).toBeLessThan(1.1);
  });

  it.each(['multi-container', 'finalizer'])('in the recording %s', async (name) => {
    const sightings = await recorded(name);
    const report = judged(endingLate(sightings, 5000));
    expect(causesOf(report)).not.toContain('clock-doubtful');
    expect(report.verdict.outcome).toBe(judged(sightings).verdict.outcome);
  });

  it('where volumes and cgroup were slow to go', () => {
    const sightings = told(alone({ app: drains(1000, 143) }, kubelet({ cleanupMs: [6000, 6000] })));
    expect(widthOf(judged(endingLate(sightings, 4600)))).toBeLessThan(0.3);
  });

  it('where its connection broke, and was made anew after the exit, while the sandbox was slow to stop', () => {
    const sightings = told(alone({ app: drains(1000) }, kubelet({ sandboxMs: [7000, 7000] })));
    const end = sightings.find(({ kind }) => kind === 'log-ended')?.at ?? NaN;
    const { at } = markedIn(sightings);
    const kept = sightings.filter((one) => one.kind !== 'log-ended' && !(one.kind === 'line' && one.at > at + 200));
    const report = judged(
      adding(
        kept,
        { at: at + 200, kind: 'log-ended', container: 'app', clean: false },
        { at: end + 5000, kind: 'log-opened', container: 'app' },
        { at: end + 5020, kind: 'log-ended', container: 'app', clean: true },
      ),
    );
    expect(causesOf(report)).not.toContain('clock-doubtful');
    expect(widthOf(report)).toBeLessThan(1.1);
  });

  it('where podexit itself stood still', () => {
    const sightings = told(alone({ app: drains(2000) }));
    const { at } = markedIn(sightings);
    const [since, to] = [at + 1000, at + 8000];
    const late = sightings.map((one) => (one.at > since && one.at < to ? { ...one, at: to } : one));
    const noticed = (['pod', 'events', 'endpointslices'] as const).map(
      (stream) => ({ at: to - 1, kind: 'resumed', stream, since }) satisfies Sighting,
    );
    const report = judged([...late, ...noticed].sort((a, b) => a.at - b.at));
    expect(causesOf(report)).not.toContain('clock-doubtful');
    expect(widthOf(report)).toBeLessThan(0.5);
  });

  it('but where the last status is as late it may be one, whichever container its stamps call the last', () => {
    const still = { offsetMs: 0, driftPpm: 0 };
    const node = { ...still, step: { atMs: 4000, byMs: -8000 } };
    const clocks = { api: still, controller: still, client: still, node };
    const { wrong, report } = judgeStory(plainStory({ ...two(), clocks }));
    expect(wrong).toEqual([]);
    expect(causesOf(report)).toContain('clock-doubtful');
  });
});
