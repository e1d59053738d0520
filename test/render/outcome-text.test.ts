import { describe, expect, it } from 'vitest';
import { renderHtml } from '../../src/render/html.ts';
import { zeroOf } from '../../src/render/offsets.ts';
import { outcomeSentence } from '../../src/render/outcome-text.ts';
import type { ContainerReport, ExitReport, Instant } from '../../src/model/report.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { killed } from './helpers/sample-reports.ts';

/** The killed sample, with so many more containers that ended well. */
function crowded(more: number): ExitReport {
  const report = killed();
  const web = report.containers.find(({ name }) => name === 'web')!;
  const others = Array.from({ length: more }, (_, index) => ({ ...web, name: `web-${index}` }));
  return { ...report, containers: [...report.containers, ...others] };
}

/** So many seconds after its request. */
function momentAfter(report: ExitReport, earliest: number, latest: number): Instant {
  const zero = zeroOf(report);
  const at = (seconds: number): string => new Date(zero + seconds * 1000).toISOString();
  return { earliest: at(earliest), latest: at(latest), basis: 'inferred', evidence: [] };
}

describe('the sentence of a pod of many containers', () => {
  it('names a few of them and counts the rest, instead of being cut off', () => {
    expect(outcomeSentence(crowded(80))).toBe(
      'legacy did not exit within the grace of 6 s and was killed; worker ended by its stop signal (exit 143), web exited 0, web-0 exited 0, web-1 exited 0, web-2 exited 0 and 77 more containers.',
    );
    expect(renderHtml(crowded(200))).toMatch(/<p class="lead">[^<]* and 197 more containers\.<\/p>/);
  });

  it('names them all where one more would have to be counted', () => {
    expect(outcomeSentence(crowded(4))).toMatch(/web-2 exited 0 and web-3 exited 0\.$/);
    expect(outcomeSentence(crowded(5))).toMatch(/web-2 exited 0 and 2 more containers\.$/);
  });
});

describe('the sentence of a graceful exit', () => {
  it.each([
    [['completed', 'completed'], ''],
    [['killed', 'completed'], '; its sidecar logs was killed'],
    [['killed', 'oom'], '; its sidecars logs and proxy were killed'],
  ] as const)('names the sidecars that were killed: %j', async ([logs, proxy], words) => {
    const report = await reportOfRecording('native-sidecar');
    const outcomes: Record<string, ContainerReport['outcome']> = { logs, proxy };
    const containers = report.containers.map((one) => ({ ...one, outcome: outcomes[one.name] ?? one.outcome }));
    expect(outcomeSentence({ ...report, containers })).toBe(`app drained in 3 s of 12 s${words}.`);
  });
});

describe('the sentence of an object that was removed', () => {
  /** The object was gone between `earliest` and `latest`, seconds after the request. */
  const removedIn = async (earliest: number, latest: number): Promise<string> => {
    const report = await reportOfRecording('completed');
    const marks = report.marks.map((mark) =>
      mark.name === 'removed' ? { ...mark, at: momentAfter(report, earliest, latest) } : mark,
    );
    return outcomeSentence({ ...report, marks });
  };

  it('tells a moment that is known', async () => {
    expect(await removedIn(0, 0.022)).toMatch(/; the object was removed 0\.02 s after the request\.$/);
    expect(await removedIn(0.35, 0.43)).toMatch(/; the object was removed 0\.43 s after the request\.$/);
  });

  it('tells the last that it can have been as no more than that', async () => {
    expect(await removedIn(0, 1.1)).toMatch(/; the object was removed at most 1\.10 s after the request\.$/);
    expect(await removedIn(0, 2.512)).toMatch(/; the object was removed at most 2\.52 s after the request\.$/);
    expect(await removedIn(0.3, 0.43)).toMatch(/; the object was removed at most 0\.43 s after the request\.$/);
  });
});
