/** The printed timeline of a replay: its moments are in the order of time, and none is printed twice. */
import { expect, it } from 'vitest';
import { renderText } from '../../src/output/text/lines.ts';
import { reportOf } from '../../src/advice/report.ts';
import { allNames, observationsOf, traceOf, tracedPodsOf } from '../helpers/recordings.ts';

/** `  23:04:29.60     +0.02  api          deletionTimestamp …`: the latest offset that rounds to it, and the words. */
function momentsIn(text: string): { latest: number; earliest: number; words: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, sign, offset = '', words = ''] =
      /^ {2}\d\d:\d\d:\d\d\S* +[\u2248\u2264]?([+\u2212])(\d+(?:\.\d+)?) +(.*)/.exec(line) ?? [];
    if (sign === undefined) return [];
    const half = 0.5 * 10 ** -(offset.split('.')[1]?.length ?? 0);
    const at = Number(offset) * (sign === '+' ? 1 : -1);
    return [{ earliest: at - half, latest: at + half, words }];
  });
}

it.each(allNames)('%s', async (name) => {
  for (const { pod, rawObservations } of (await tracedPodsOf(name)).slice(0, 5)) {
    const report = reportOf(traceOf(observationsOf(rawObservations)));
    const moments = report ? momentsIn(renderText(report)) : [];
    expect(moments.length, pod).toBeGreaterThan(1);
    for (const [index, { latest, words }] of moments.entries()) {
      const before = Math.max(-Infinity, ...moments.slice(0, index).map(({ earliest }) => earliest));
      expect(latest, `${pod}: ${words}`).toBeGreaterThanOrEqual(before - 1e-9);
    }
    expect(new Set(moments.map(({ words }) => words)).size, pod).toBe(moments.length);
  }
});
