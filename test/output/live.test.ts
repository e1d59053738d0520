/** The live view as a terminal shows it: the answer line on top, bars, Services, and the card at the end. */
import { describe, expect, it } from 'vitest';
import { tracedPodOf, recordingNames, reportToRender } from '../helpers/recordings.ts';
import { closingText } from '../../src/output/pod-facts.ts';
import { frame } from '../../src/output/text/frame.ts';
import { plainPen } from '../../src/output/palette.ts';
import { everyNth } from '../helpers/sweep.ts';
import type { Happening } from './helpers/screen.ts';
import { allLines, screenOf } from './helpers/screen.ts';
import type { Play } from './helpers/theatre.ts';
import { play } from './helpers/theatre.ts';
import { endOf } from './helpers/card-end.ts';

const window: Play = { columns: 80, rows: 24, style: { color: true, unicode: true } };
const playOf = async (name: string, options: Partial<Play> = {}) =>
  play(await tracedPodOf(name), { ...window, ...options });
const seen = async (name: string, options: Partial<Play> = {}) => {
  const { happenings, live } = await playOf(name, options);
  const screen = await screenOf({ ...window, ...options }, happenings);
  live.close();
  return screen;
};
const bytesOf = (happenings: readonly Happening[]): number =>
  happenings.reduce((sum, event) => sum + (event.kind === 'write' ? Buffer.byteLength(event.text) : 0), 0);

describe('at the end', () => {
  it.each(everyNth(4, recordingNames))(
    'a screen of 80 × 24 shows the whole card of %s, with the cursor below it',
    async (name) => {
      const screen = await seen(name);
      const lines = screen.window.filter((line) => line !== '');
      const { answer } = await reportToRender(name);
      expect(screen.cursorHidden).toBe(false);
      expect(lines.join('\n')).toContain(`${answer.word}  `);
      expect(endOf(screen.written)).toContain(answer.summary);
      // Nothing is left of an earlier frame.
      expect(allLines(screen).filter((line) => / Terminating · \d/.test(line))).toEqual([]);
    },
  );

  it.each([
    [110, 60],
    [50, 100],
    [80, 79],
  ])('a resize from %i to %i columns leaves nothing of the frame, and all that was above it', async (columns, to) => {
    const changesOf = (written: readonly string[]) => written.filter((line) => /^ *[≈≤]?\+\d+\.\d+ {2}\w/.test(line));
    const undisturbed = changesOf((await seen('graceful-exit', { columns })).written);
    expect(undisturbed.length).toBeGreaterThan(5);
    for (const at of everyNth(2, [0.05, 0.3, 1.5, 3])) {
      const { written } = await seen('graceful-exit', { columns, resize: { at, columns: to, rows: 24 } });
      expect(written.filter((line) => / Terminating · \d/.test(line))).toEqual([]);
      expect(changesOf(written)).toHaveLength(undisturbed.length);
    }
  });

  it('prints the whole closing sentence after Ctrl-C, and nothing else of the card', async () => {
    const { happenings, live } = await playOf('finalizer', { until: 5 });
    const report = await reportToRender('finalizer');
    live.end({ ...report, verdict: { ...report.verdict, exitCode: 130 } });
    const { written } = await screenOf(window, happenings);
    expect(endOf(written)).toBe(`? ${closingText(report)}`);
    expect(written.filter((line) => / traffic /.test(line))).toEqual([]);
  });
});

describe('while it runs', () => {
  it.each(['sigkill-after-grace', 'prestop-sleep', 'multi-container', 'kubelet-restart', 'finalizer'])(
    'the numbers of %s agree: grace used and countdown give the grace period, and the bar is as full as they say',
    async (name) => {
      let counted = 0;
      for (const until of everyNth(2, [1.2, 2.4, 3.6, 4.8, 6])) {
        const { window: lines } = await seen(name, { until, columns: 120 });
        const text = lines.join('\n');
        const [, used = '', whole = '', left = ''] =
          /Terminating · 0:(\d+) of 0:(\d+) · SIGKILL in (\d+)s/.exec(text) ?? [];
        if (used === '') continue;
        counted++;
        expect(Number(used) + Number(left)).toBe(Number(whole));
        const bars = [...text.matchAll(/([▓█]*)(░+) {2}0:(\d+) of 0:(\d+)/g)];
        for (const [, full = '', rest = '', seconds, of] of bars)
          expect(Math.abs(full.length / (full + rest).length - Number(seconds) / Number(of))).toBeLessThan(
            1 / Number(of),
          );
      }
      expect(counted).toBeGreaterThan(0);
    },
  );

  it('prints every line of its history once, in order, even in a low window', async () => {
    for (const rows of [4, 8, 24]) {
      const lines = allLines(await seen('graceful-exit', { rows, columns: 120 }));
      const order = ['delete requested', 'deletionTimestamp', 'SIGTERM sent', 'exited 0', 'pod deleted'];
      const found = order.map((words) => lines.findIndex((line) => line.includes(words)));
      expect(found.every((index) => index >= 0)).toBe(true);
      expect(found).toEqual([...found].sort((a, b) => a - b));
      for (const words of order)
        expect(lines.filter((line) => line.endsWith(words) && line.includes(words)).length).toBeLessThanOrEqual(1);
    }
  });

  it('marks each half second in which requests failed, dimmed for requests to the pod itself', async () => {
    const { timeline } = await reportToRender('graceful-exit');
    const at = (second: number): number => timeline.zero + second * 1000;
    const slices = [
      { from: at(0), to: at(2), sent: 40, failed: 0 },
      { from: at(2), to: at(5), sent: 10, failed: 3 },
    ];
    const probe = { via: 'url', sent: 50, failed: 3, slices } as unknown as (typeof timeline.probes)[number];
    const laneOf = (via: string) =>
      frame({ ...timeline, probes: [{ ...probe, via } as typeof probe] }, at(5), { ...window, pen: plainPen })
        .find((line) => line.some(({ text }) => text.startsWith('requests')))
        ?.map(({ ink, text }) => [ink, text] as const);
    const words = laneOf('url')?.map(([, text]) => text);
    expect(words?.join('')).toMatch(/requests +·+┃+ +50 sent · 3 failed$/);
    expect(laneOf('url')).toContainEqual(['bad', expect.stringContaining('┃')]);
    expect(laneOf('pod-proxy')).toContainEqual(['dim', expect.stringContaining('┃')]);
  });

  it('repaints at most ten times a second', async () => {
    const { writtenAt } = await playOf('rolling-update', { until: 5 });
    for (const start of writtenAt)
      expect(writtenAt.filter((time) => time >= start && time < start + 1000).length).toBeLessThanOrEqual(11);
  });
});

it.each([
  ['graceful-exit', 7000],
  ['sigkill-after-grace', 17_500],
  ['kubelet-restart', 10_000],
])('writes little for %s: at most %i bytes', async (name, most) => {
  const { happenings } = await playOf(name);
  expect(bytesOf(happenings)).toBeLessThanOrEqual(most);
});
