/** Where the grace is drawn: from when the kubelet began, which the API's deadline knows nothing of. */
import { describe, expect, it } from 'vitest';
import { deadlineOf, graceWindow } from '../../src/render/grace-window.ts';
import { renderHtml } from '../../src/render/html.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { inferred, mark, observed, phase } from './helpers/report-parts.ts';
import { blank, forced, graceful, stuck } from './helpers/sample-reports.ts';

const silent = await reportOfRecording('node-down');
const killed = await reportOfRecording('multi-container');

describe('the grace', () => {
  it('begins when the kubelet does', () => {
    expect(graceWindow(silent)?.begin).toEqual({ min: 60.021, max: 62.113 });
    expect(graceWindow(silent)?.end.max).toBeCloseTo(72.113);
    expect(graceWindow(graceful())?.shown.min).toBeCloseTo(0.0195);
    expect(graceWindow(graceful())?.shown.max).toBeCloseTo(10.0195);
  });

  it('counts from the first container that was stopped, else from when the kubelet knew', () => {
    const acknowledged = mark('acknowledged', observed(1, 2));
    expect(graceWindow({ ...blank(), marks: [acknowledged] })?.begin).toEqual({ min: 0, max: 1 });
    const later = [mark('stopping', observed(5, 6), 'app'), mark('stopping', observed(4, 5), 'web')];
    const marks = [mark('requested', observed(0, 0.001)), acknowledged, ...later];
    expect(graceWindow({ ...blank(), marks })?.begin).toEqual({ min: 4, max: 5 });
  });

  it('does not begin before the acceptance, and ends where overtime begins', () => {
    const marks = [mark('accepted', observed(-2, 0)), mark('stopping', observed(-2, 0.1), 'app')];
    expect(graceWindow({ ...blank(), marks })?.shown).toEqual({ min: 0, max: 10 });
    const counted = [phase('overtime', inferred(17, 18), inferred(19, 20), 10, 'app')];
    expect(graceWindow({ ...blank(), marks, phases: counted })).toMatchObject({
      end: { min: 17, max: 18 },
      shown: { max: 17.5 },
    });
  });

  it('is none where it was not seen to begin, or was none', () => {
    expect(graceWindow(stuck())).toBeUndefined();
    expect(graceWindow(forced())).toBeUndefined();
  });
});

describe('the deadline by the API', () => {
  it('is moved only by what the clock of the API is surely off', () => {
    const ahead = (min: number, max: number): ExitReport => ({
      ...graceful(),
      clocks: { api: { offsetMs: { min, max } } },
    });
    expect(deadlineOf(graceful())).toBe(10);
    expect(deadlineOf(ahead(-125, 998))).toBe(10);
    expect(deadlineOf(ahead(60_000, 61_000))).toBe(-50);
    expect(deadlineOf(ahead(-61_000, -60_000))).toBe(70);
  });
});

describe('the picture of the HTML report', () => {
  /** From and to of the first of a class, in percent. */
  const boxOf = (html: string, cls: string): { from: number; to: number } => {
    const [, x, width] = new RegExp(`<rect class="${cls}" x="([\\d.]+)%" width="([\\d.]+)%"`).exec(html)!;
    return { from: Number(x), to: Number(x) + Number(width) };
  };

  it('has the drain within the grace, and the deadline elsewhere', () => {
    const html = renderHtml(silent);
    const [grace, drain] = [boxOf(html, 'grace perhaps'), boxOf(html, 'maybe drain')];
    expect(grace.from).toBeLessThanOrEqual(drain.from);
    expect(grace.to).toBeGreaterThanOrEqual(drain.to);
    expect(html).toMatch(/>grace ends<[^]*>API’s deadline</);
    expect(html).not.toMatch(/<line class="deadline"/);
  });

  it('has a grace as long as it is called, and no sure part of a drain after it', () => {
    const html = renderHtml(killed);
    const [sure, perhaps] = [boxOf(html, 'grace'), boxOf(html, 'grace perhaps')];
    const { begin, end } = graceWindow(killed)!;
    expect(end.max - begin.max).toBeCloseTo(6);
    expect((sure.to - sure.from) / (perhaps.to - perhaps.from)).toBeCloseTo(
      (end.min - begin.max) / (end.max - begin.min),
    );
    const drains = [...html.matchAll(/<rect class="solid drain" x="([\d.]+)%" width="([\d.]+)%"/g)];
    expect(Math.max(...drains.map(([, x, width]) => Number(x) + Number(width)))).toBeLessThanOrEqual(perhaps.to);
  });

  it('says so where a kubelet that restarted may have counted anew', async () => {
    expect(renderHtml(await reportOfRecording('kubelet-restart'))).toContain('20s, perhaps counted anew');
    expect(renderHtml(silent)).not.toContain('counted anew');
  });

  it('says that the grace was not seen to begin', () => {
    expect(renderHtml(stuck())).toContain('10s, not seen to begin');
    expect(renderHtml(graceful())).not.toContain('not seen to begin');
  });
});
