/** Rules for the cards of all recordings. Their texts are in test/goldens. */
import { describe, expect, it } from 'vitest';
import { cardLines } from '../../src/output/text/card.ts';
import type { ProbeResult } from '../../src/infer/probes.ts';
import { penFor, plainPen as pen } from '../../src/output/palette.ts';
import { textWidth } from '../../src/output/prose.ts';
import { countedLines } from './helpers/card-end.ts';
import { headlineOf } from '../../src/verdict/headline.ts';
import type { Report } from '../../src/verdict/report.ts';
import { recorded, reportNamed } from './helpers/reports.ts';

const cardOf = (report: Report, columns = 80): string[] => cardLines(report, { pen, columns });
const isCommand = (line: string): boolean => /^ +kubectl /.test(line);

describe.each(recorded)('the card of %s', (_name, report) => {
  it('is ASCII at a terminal that has no other characters, with a spelling for each of our own signs', () => {
    const ascii = cardLines(report, { pen: penFor({ color: false, unicode: false }), columns: 80 }).join('\n');
    expect(ascii).toMatch(/^[\n -~]*$/);
    expect(ascii).not.toContain('\\u{');
  });

  it('is wrapped at 40 columns too', () => {
    const prose = cardOf(report, 40)
      .slice(0, -1)
      .filter((line) => !isCommand(line));
    expect(prose.filter((line) => textWidth(line) > 40)).toEqual([]);
  });
});

it('leaves out rows of a card that is not good for a closing sentence of several lines', () => {
  const report = reportNamed('multi-container');
  const containers = report.timeline.containers.flatMap((one) => [one, { ...one, name: `${one.name}-2` }]);
  const answer = { ...report.answer, summary: 'word '.repeat(80), why: 'because '.repeat(40) };
  const lines = cardOf({ ...report, timeline: { ...report.timeline, containers }, answer });
  expect(countedLines(lines, false)).toBeLessThanOrEqual(20);
  expect(lines.join('\n')).not.toContain('because');
});

it('names a few of many containers with the same end, in the words of their rows', () => {
  const { timeline, verdict } = reportNamed('multi-container');
  const killed = timeline.containers.find(({ outcome }) => outcome === 'killed');
  const containers = Array.from({ length: 12 }, (_, index) => ({ ...killed!, name: `c${index}`, probable: index > 0 }));
  const crowded = { ...timeline, containers };
  expect(headlineOf({ timeline: crowded, verdict, cause: undefined }).brief).toBe(
    'c0 did not exit (exit 137); c1, c2, c3, c4 and 7 more were probably SIGKILLed too',
  );
  const lines = cardOf({ ...reportNamed('multi-container'), timeline: crowded });
  expect(lines.join('\n')).toContain('7 more    each probably SIGKILL');
  expect(countedLines(lines, false)).toBeLessThanOrEqual(20);
});

it('always has the row of one container, however long the first line is', () => {
  const report = reportNamed('exit-143');
  const rows = cardOf({ ...report, answer: { ...report.answer, headline: 'x'.repeat(400) } }).join('\n');
  expect(rows).toMatch(/^ {2}app +.* exited 143 /m);
  expect(rows).not.toContain(' more ');
});

it('says nothing of a share of the grace period if nothing shows how much was used', () => {
  const report = reportNamed('multi-container');
  const containers = report.timeline.containers.map((one) => ({ ...one, graceUsed: undefined, drain: undefined }));
  const rows = cardOf({ ...report, timeline: { ...report.timeline, containers } }).join('\n');
  expect(rows).toContain('  web       exited 0  grace period 6s');
});

it('names the targets of several probes, those that lost requests first', () => {
  const probes = [probeOf('http://good', 0), probeOf('http://fair', 1), probeOf('http://poor', 9)];
  expect(requestRowsOf(probes)).toEqual([
    expect.stringContaining('✖ http://poor: 100 sent · 9 failed'),
    expect.stringContaining('✖ http://fair: 100 sent · 1 failed'),
  ]);
});

it('has a row for each of two probes, however long the lines of a good card are', () => {
  const graceful = reportNamed('graceful-exit');
  const metadata = { ...graceful.timeline.pod.metadata, namespace: 'n'.repeat(60) };
  const probes = [probeOf('http://one', 0), probeOf('http://two', 0)];
  const timeline = { ...graceful.timeline, pod: { ...graceful.timeline.pod, metadata }, probes };
  const answer = { ...graceful.answer, headline: 'word '.repeat(25) };
  const lines = cardOf({ ...graceful, timeline, answer });
  expect(lines.filter((line) => /no loss measured \(100 requests: below 3% unproven\)$/.test(line))).toHaveLength(2);
});

it.each([
  [100, '✔'],
  [101, '▲'],
])('marks 100 requests without a loss, and %i that were not measured, with %s', (count, sign) => {
  const notMeasured = [{ reason: 'no-network' as const, count }];
  const words = `${sign} no loss measured (100 requests: below 3% unproven) · ${count} not`;
  expect(requestRowsOf([{ ...probeOf('http://shop', 0), notMeasured }])).toEqual([expect.stringContaining(words)]);
});

const unprobed = reportNamed('sigkill-after-grace');

function probeOf(target: string, failed: number): ProbeResult {
  const { zero } = unprobed.timeline;
  return {
    ...{ target, via: 'url', ratePerSecond: 20, sent: 100, succeeded: 100 - failed, failed },
    ...{ new: { sent: 100, failed }, slices: [], latencyMs: {}, notMeasured: [] },
    windows: failed === 0 ? [] : [{ start: zero, end: zero, failed, stretches: [] }],
  };
}

const requestRowsOf = (probes: ProbeResult[]): string[] =>
  cardOf({ ...unprobed, timeline: { ...unprobed.timeline, probes } }).filter((line) => / requests {2}/.test(line));
