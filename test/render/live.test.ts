import { describe, expect, it } from 'vitest';
import { createLive } from '../../src/render/live.ts';
import { emptyTrace } from '../../src/model/empty-trace.ts';
import { observationsOf, recordingNames, reportOfRecording, sightingsOf } from '../helpers/recordings.ts';
import type { Happening } from './helpers/screen.ts';
import { allLines, screenOf } from './helpers/screen.ts';
import type { Play } from './helpers/theatre.ts';
import { play } from './helpers/theatre.ts';

const window: Play = { columns: 80, rows: 24, style: { color: 1, unicode: true } };
const playOf = async (name: string, options: Partial<Play> = {}) =>
  play(observationsOf(await sightingsOf(name)), { ...window, ...options });
const bytes = (happenings: readonly Happening[]): string =>
  happenings.map((one) => (one.kind === 'write' ? one.text : '')).join('');
const hides = '\u001b[?25l';
const shows = '\u001b[?25h';

describe('the live view', () => {
  it.each(recordingNames)('of %s leaves the whole timeline with its verdict, once, and the cursor', async (name) => {
    const { happenings } = await playOf(name);
    const screen = await screenOf(window, happenings);
    const lines = allLines(screen);
    const { verdict, marks } = await reportOfRecording(name);
    expect(screen.cursorHidden).toBe(false);
    expect(lines.filter((line) => line.includes(` ${verdict.outcome}: `))).toHaveLength(1);
    // Nothing of the region that was painted over is left: one picture, at the end.
    expect(lines.filter((line) => /^ {2}object +/.test(line)).length).toBeLessThanOrEqual(1);
    expect(lines.filter((line) => /\(grace \d+ s\b.*\)$/.test(line))).toEqual([]);
    if (marks.length > 0) expect(lines.filter((line) => /^ {2}object +/.test(line))).toHaveLength(1);
  });

  it.each([
    [100, 50],
    [50, 100],
    [120, 40],
    [80, 79],
  ])('survives a resize from %i to %i columns at any moment without a trace of the old picture', async (from, to) => {
    for (const second of [0.05, 0.7, 1.5, 3])
      for (const name of ['graceful-exit', 'multi-container']) {
        const { happenings } = await playOf(name, { columns: from, resize: { at: second, columns: to, rows: 20 } });
        const { written: lines } = await screenOf({ columns: from, rows: 24 }, happenings);
        expect(
          lines.filter((line) => /^ {2}object +/.test(line)),
          `${name} at ${second}`,
        ).toHaveLength(1);
        expect(lines.filter((line) => /^ {2}app +[▒█]|^ {2}legacy +[▒█]/.test(line))).toHaveLength(1);
        expect(lines.filter((line) => line.includes('DELETE, uid precondition'))).toHaveLength(1);
      }
  });

  it('scrolls its history by: every line of it is there once, in order, however low the window', async () => {
    for (const rows of [3, 6, 10, 40]) {
      const { happenings } = await playOf('graceful-exit', { rows, columns: 120 });
      const lines = allLines(await screenOf({ columns: 120, rows }, happenings));
      const order = [
        'DELETE, uid',
        'accepted, deadline',
        'unrouted, still serving',
        'stop signal sent',
        'object removed',
      ];
      const found = order.map((words) => lines.findIndex((line) => line.includes(words)));
      expect(found.every((index) => index >= 0)).toBe(true);
      expect(found).toEqual([...found].sort((a, b) => a - b));
      for (const words of order) expect(lines.filter((line) => line.includes(words))).toHaveLength(1);
    }
  });

  it('paints at most ten times a second, and in one write each', async () => {
    for (const name of ['graceful-exit', 'rolling-update', 'multi-container']) {
      const { writtenAt, happenings } = await playOf(name, { until: 5 });
      const paintings = writtenAt.filter((_, index) => bytes([happenings[index]!]).includes('\u001b[?2026h'));
      for (const start of paintings)
        expect(paintings.filter((time) => time >= start && time < start + 1000).length).toBeLessThanOrEqual(10);
      for (const one of happenings.map((each) => bytes([each])).filter((text) => text.includes('\u001b[?2026h')))
        expect(one.endsWith('\u001b[?2026l')).toBe(true);
    }
  });

  it('writes nothing when the frame is the same', async () => {
    const { happenings } = await playOf('grace-shortened', { until: 25 });
    const screens = happenings.map((one) => bytes([one]));
    expect(screens.every((text, index) => text !== screens[index - 1])).toBe(true);
    // A countdown of 30 s on a bar of some forty cells: not the 125 beats of the timer.
    expect(screens.length).toBeLessThan(80);
  });

  it('hides the cursor once and gives it back once, however often it is closed', async () => {
    const { happenings, live } = await playOf('graceful-exit', { until: 2 });
    live.close();
    live.close();
    const written = bytes(happenings);
    expect(written.split(hides)).toHaveLength(2);
    expect(written.split(shows)).toHaveLength(2);
    expect(written.lastIndexOf(shows)).toBeGreaterThan(written.lastIndexOf(hides));
    const screen = await screenOf(window, happenings);
    expect(screen.window.join('\n')).not.toContain('draining, kill in');
    expect(screen.window.join('\n')).toContain('stop signal sent');
  });

  it('spins only until something is known, and leaves nothing of it', async () => {
    const happenings: Happening[] = [];
    const live = createLive({
      write: (text) => void happenings.push({ kind: 'write', text }),
      style: window.style,
      columns: () => 80,
      rows: () => 24,
      clock: { now: () => 0, setTimeout: () => () => {} },
      timestamps: 'utc',
    });
    const [began] = observationsOf(await sightingsOf('graceful-exit'));
    live.step({ ...emptyTrace, now: 0 }, began!);
    expect((await screenOf(window, happenings)).window[0]).toMatch(/^\S asking the cluster$/);
    live.close();
    const after = await screenOf(window, happenings);
    expect(allLines(after)).toEqual(['']);
    expect(after.cursorHidden).toBe(false);
    const { happenings: played } = await playOf('graceful-exit');
    expect(allLines(await screenOf(window, played)).join('\n')).not.toContain('asking the cluster');
  });

  it('lets a message scroll by above the picture', async () => {
    const { happenings, live } = await playOf('graceful-exit', { until: 2 });
    live.say('podexit: the recording is incomplete\n');
    live.tick();
    live.close();
    const lines = allLines(await screenOf(window, happenings));
    expect(lines.filter((line) => line === 'podexit: the recording is incomplete')).toHaveLength(1);
  });

  it('leaves nothing of the picture behind a message that is wider than the window', async () => {
    const { happenings, live } = await playOf('graceful-exit', { until: 2 });
    const message = `podexit: ${'a long word or two '.repeat(6)}end`;
    live.say(`${message}\n`);
    live.close();
    const lines = allLines(await screenOf(window, happenings));
    const first = lines.findIndex((line) => line.startsWith('podexit: a long'));
    const rows = Math.ceil(message.length / window.columns);
    const told = lines.slice(first, first + rows + 1).map((line) => line.trim());
    expect(told.join(' ').trim()).toBe(message);
  });
});
