/** The documents show each moment where the terminal does. */
import { describe, expect, it } from 'vitest';
import { renderHtml } from '../../src/render/html.ts';
import { renderText, zeroOfReport } from '../../src/render/lines.ts';
import { renderMarkdown } from '../../src/render/markdown.ts';
import { mermaidZero, renderMermaid } from '../../src/render/mermaid.ts';
import { shownAt } from '../../src/render/moments.ts';
import { shownIn, viewsOf } from '../../src/render/shown.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { recordingNames, reportOfRecording } from '../helpers/recordings.ts';
import { graceful } from './helpers/sample-reports.ts';

const attached = await reportOfRecording('rolling-update');
const silent = await reportOfRecording('node-down');

/** The cells of the table of marks: offset, mark, subject, note, basis, bounds. */
const rowsOf = (report: ExitReport): string[][] =>
  (renderMarkdown(report).split('<summary>Marks')[1] ?? '')
    .split('\n')
    .filter((line) => /^\| (?!offset|---)/.test(line))
    .map((line) => line.slice(2, -2).split(' | '));

const rowOf = (report: ExitReport, name: string): string[] => rowsOf(report).find((cells) => cells[1] === name)!;

describe('the tables of marks', () => {
  it.each(recordingNames)('show the moments of %s where the lines do', async (name) => {
    const report = await reportOfRecording(name);
    const shown = shownIn(report);
    const zero = zeroOfReport(report);
    expect(report.marks.map(({ at, subject }) => shown.at(at, subject))).toEqual(
      viewsOf(report).map((mark) => (shownAt(mark, zero) - zero.at) / 1000),
    );
  });

  it('show no effect of a deletion that was not ours before its acceptance', () => {
    expect(renderText(attached)).toContain(' ~+0      app          stop signal sent');
    expect(rowOf(attached, 'accepted')[0]).toBe('+0.000s');
    expect(rowOf(attached, 'stop-signal')[0]).toBe('\\~+0s');
    expect(renderMarkdown(attached)).toContain('| `app` | container | completed |  | \\~+0s |  | \\~+1s |');
    expect(renderHtml(attached)).toContain('stop-signal · app ~+0s');
  });

  it('stand in the order of the report, in which a cause comes first', () => {
    const order = attached.marks.map(({ name }) => name);
    expect(order.indexOf('replacement-started')).toBeLessThan(order.indexOf('replacement-ready'));
    expect(rowsOf(attached).map((cells) => cells[1])).toEqual(order);
    const table = renderHtml(attached).split('id="t-marks"')[1]!;
    expect([...table.matchAll(/<td class="num">[^<]*<\/td><td>([a-z-]+)/g)].map(([, name]) => name)).toEqual(order);
  });

  it('have one minus sign', () => {
    expect(rowOf(attached, 'replacement-created')).toMatchObject({ 0: '−0.481s', 5: '−2.703 … −0.481s' });
    expect(rowsOf(attached).join('')).not.toMatch(/-\d\.\d/);
  });
});

describe('the Mermaid gantt', () => {
  const milestonesOf = (report: ExitReport): Map<string, number> =>
    new Map(
      [...renderMermaid(report).matchAll(/^ {2}(\S+) :(?:crit, )?milestone, (\d+)/gm)].map(([, name, ms]) => [
        name!,
        Number(ms) / 1000,
      ]),
    );

  it('says where the zero of the tables stands, if that is not its own', () => {
    expect(renderMarkdown(attached)).toContain('The diagram shows no time below 0: its 1 s is the +0 of the tables.\n');
    expect(renderMarkdown(graceful())).not.toContain('The diagram shows');
  });

  it('counts from there', () => {
    const drawn = milestonesOf(attached);
    for (const name of ['unrouted', 'removed', 'replacement-ready'])
      expect(drawn.get(name)! - mermaidZero(attached)).toBeCloseTo(
        Number(rowOf(attached, name)[0]!.replace('−', '-').slice(0, -1)),
      );
  });

  it('draws the grace as the kubelet counts it, beside the deadline of the API', () => {
    expect(renderMermaid(silent)).toContain(
      '  section grace\n  deadline :crit, milestone, 9931, 9931\n  kubelet-grace :active, 61067, 71067\n',
    );
    expect(renderMermaid(attached)).toContain('  kubelet-grace :active, 1000, 9000\n');
  });
});
