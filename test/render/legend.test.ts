/** What cannot be read off a bar stands in the legend of the picture. */
import { expect, it } from 'vitest';
import { renderHtml } from '../../src/render/html.ts';
import { looks, wordOf } from '../../src/render/html/looks.ts';
import { reports } from './helpers/reports.ts';

it.each(reports)('names each colour that is drawn, and no other (%s)', (_name, sample) => {
  const html = renderHtml(sample());
  const drawn = looks.filter((look) => new RegExp(`class="(?:solid|maybe|hair|fade-in|fade-out) ${look}"`).test(html));
  const named = looks.filter((look) => html.includes(`<li><i class="chip ${look}"></i>${wordOf(look)}</li>`));
  expect(named).toEqual(drawn);
});

it.each(reports)('says what hatching means where a bar is hatched (%s)', (_name, sample) => {
  const html = renderHtml(sample());
  expect(html.includes('</i>hatched: ')).toBe(html.includes('class="doubtful"'));
});
