/** What clients felt, graded: the worst of an exit counts, and a possible race is no warning. */
import { expect, it } from 'vitest';
import { cardLines } from '../../src/output/text/card.ts';
import { penFor, plainStyle } from '../../src/output/palette.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import { reportNamed } from '../output/helpers/reports.ts';

const trafficLine = (name: string): string | undefined =>
  cardLines(reportNamed(name), { pen: penFor(plainStyle), columns: 80 }).find((line) => line.startsWith('  traffic'));

it.each([
  ['graceful-exit', 'race', /^ {2}traffic {3}not measured, requests may have failed: no preStop, and app\s/],
  ['exit-143', 'outage', /^ {2}traffic {3}▲ outage: no ready backend in Service api for /],
  ['force-delete', 'outage', /^ {2}traffic {3}▲ outage: no ready backend in Service api for ≥/],
  ['completed', 'not-judged', /^ {2}traffic {3}– not judged: /],
])('%s is graded %s', (name, grade, line) => {
  expect(exitReportOf(reportNamed(name)).traffic).toMatchObject({ grade });
  expect(trafficLine(name)).toMatch(line);
});
