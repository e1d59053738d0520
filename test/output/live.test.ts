/** The live view as a terminal shows it: the answer line on top, bars, Services, and the card at the end. */
import { describe, expect, it } from 'vitest';
import { observationsOf, recordingNames, reportToRender, rawObservationsOf } from '../helpers/recordings.ts';
import { closingText } from '../../src/output/pod-facts.ts';
import { frame } from '../../src/output/text/frame.ts';
import { penFor, plainStyle } from '../../src/output/palette.ts';
import { isSweep, rounds } from '../helpers/sweep.ts';
import type { Happening } from './helpers/screen.ts';
import { allLines, screenOf } from './helpers/screen.ts';
import type { Play } from './helpers/theatre.ts';
import { play } from './helpers/theatre.ts';
import { endOf } from './helpers/card-end.ts';

const window: Play = { columns: 80, rows: 24, style: { color: true, unicode: true } };
const playOf = async (name: string, options: Partial<Play> = {}) =>
  play(observationsOf(await rawObservationsOf(name)), { ...window, ...options });
const seen = async (name: string, options: Partial<Play> = {}) => {
  const { happenings, live } = await playOf(name, options);
  const screen = await screenOf({ ...window, ...options }, happenings);
  live.close();
  return screen;
};
const bytesOf = (happenings: readonly Happening[]): number =>
  happenings.reduce((sum, event) => sum + (event.kind === 'write' ? Buffer.byteLength(event.text) : 0), 0);

/** An end of each kind; with the others the sweep finds a card that is too large. */
const shortNames = ['graceful-exit', 'multi-container', 'prestop-exceeds-grace', 'finalizer', 'pending', 'evicted'];

describe('at the end', () => {
  it.each(isSweep ? recordingNames : shortNames)(
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
    [100, 50],
    [50, 100],
    [80, 79],
  ])('nothing of the frame is left after a resize from %i to %i columns', async (from, to) => {
    for (const second of [0.05, 1.5, 3]) {
      const { happenings } = await playOf('graceful-exit', {
        columns: from,
        resize: { at: second, columns: to, rows: 20 },
      });
      const { written } = await screenOf({ columns: from, rows: 24 }, happenings);
      expect(written.filter((line) => / Terminating · \d/.test(line))).toEqual([]);
      expect(written.filter((line) => line.includes('delete requested'))).toHaveLength(1);
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

  it('a resize loses nothing of what was printed above the frame', async () => {
    const changes = ({ written }: Awaited<ReturnType<typeof screenOf>>): string[] =>
      written.filter((line) => / \+\d+\.\d+ {2}\w/.test(line));
    const undisturbed = changes(await seen('graceful-exit', { columns: 110 }));
    for (const second of [0.05, 0.3, 1.5, 3]) {
      const resize = { at: second, columns: 60, rows: 24 };
      const { happenings } = await playOf('graceful-exit', { columns: 110, resize });
      expect(changes(await screenOf({ columns: 110, rows: 24 }, happenings))).toHaveLength(undisturbed.length);
    }
  });
});

describe('while it runs', () => {
  it.each(['sigkill-after-grace', 'prestop-sleep', 'multi-container', 'kubelet-restart', 'finalizer'])(
    'the numbers of %s agree: grace used and countdown give the grace period, and the bar is as full as they say',
    async (name) => {
      let counted = 0;
      for (const until of [1.2, 2.4, 3.6, 4.8, 6]) {
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

  it('counts down in its first line, and shows SIGTERM as soon as it is inferred', async () => {
    const { window: lines } = await seen('sigkill-after-grace', { until: 3.05 });
    const top = lines.findIndex((line) => line.includes('Terminating'));
    expect(lines[top]).toMatch(/Terminating · 0:0[23] of 0:06 · SIGKILL in [34]s · removed from checkout$/);
    expect(lines.slice(top).join('\n')).toMatch(/app +█+░+ +0:0[23] of 0:06 · SIGTERM sent/);
    expect(lines.slice(top).join('\n')).toMatch(/svc\/checkout .*removed \+0\.0[12]s · 1 other ready endpoint/);
  });

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

  it('warns if the node does not respond, and suggests kubectl describe node', async () => {
    const { window: lines } = await seen('node-down', { until: 40 });
    expect(lines.join('\n')).toMatch(/✖ .*(not responding|NotReady)/);
    expect(lines.join('\n')).toContain('kubectl describe node');
  });

  it('marks each half second in which requests failed, dimmed for requests to the pod itself', async () => {
    const { timeline } = await reportToRender('graceful-exit');
    const at = (second: number): number => timeline.zero + second * 1000;
    const slices = [
      { from: at(0), to: at(2), sent: 40, failed: 0 },
      { from: at(2), to: at(5), sent: 10, failed: 3 },
    ];
    const probe = { via: 'url', sent: 50, failed: 3, slices } as unknown as (typeof timeline.probes)[number];
    const text = (via: string) =>
      frame({ ...timeline, probes: [{ ...probe, via } as typeof probe] }, at(5), {
        columns: 80,
        rows: 24,
        pen: penFor(plainStyle),
      }).find((line) => line.some(({ text: words }) => words.startsWith('requests')));
    expect(
      text('url')
        ?.map((one) => one.text)
        .join(''),
    ).toMatch(/requests +·+┃+ +50 sent · 3 failed$/);
    expect(text('url')?.find((one) => one.text.includes('┃'))?.ink).toBe('bad');
    expect(text('pod-proxy')?.find((one) => one.text.includes('┃'))?.ink).toBe('dim');
  });

  it('names the finalizers that it waits for', async () => {
    const { window: lines } = await seen('finalizer', { until: 5 });
    expect(lines.join('\n')).toContain('waiting for finalizers example.com/audit');
  });

  it('repaints at most ten times a second', async () => {
    const { writtenAt } = await playOf('rolling-update', { until: 5 });
    for (const start of writtenAt)
      expect(writtenAt.filter((time) => time >= start && time < start + 1000).length).toBeLessThanOrEqual(11);
  });
});

/** Bytes that the first version of the live view wrote for the same exits, in this playback. */
const before: Record<string, readonly [wide80: number, wide120: number]> = {
  'graceful-exit': [20_481, 35_183],
  'sigkill-after-grace': [52_422, 84_559],
  'prestop-sleep': [32_608, 60_267],
  'multi-container': [74_189, 116_044],
  'native-sidecar': [34_056, 61_502],
  finalizer: [41_398, 59_040],
  'rolling-update': [13_446, 19_254],
  'node-down': [249_624, 535_476],
  'kubelet-restart': [29_936, 51_366],
  'no-grace-spec-default': [73_833, 141_123],
};

it.each(Object.entries(before).slice(0, rounds(3, Infinity)))(
  'writes at most a third of the bytes of the first version for %s',
  async (name, old) => {
    for (const [index, columns] of [80, 120].entries()) {
      const { happenings } = await playOf(name, { columns, rows: index === 0 ? 24 : 40 });
      process.stdout.write(`${name} at ${columns} columns: ${bytesOf(happenings)} of ${old[index] ?? 0} bytes\n`);
      expect(bytesOf(happenings)).toBeLessThanOrEqual((old[index] ?? 0) / 3);
    }
  },
);
