/** What nothing bounds from below is shown as a bound, never as an exact time. */
import { expect, it } from 'vitest';
import { momentOf, offsetColumn } from '../../src/render/moments.ts';

const zero = { at: Date.parse('2026-11-20T10:00:00Z'), accepted: Date.parse('2026-11-20T10:00:00Z') };

it.each([
  ['1970-01-01T00:00:00.000Z', '2026-11-20T10:00:03.255Z', /^ *≤\+3\.3 *$/],
  ['2026-11-20T10:00:03.200Z', '2026-11-20T10:00:03.254Z', /^ *~\+3\.25 *$/],
])('from %s to %s', (earliest, latest, shown) => {
  const moment = momentOf({ earliest, latest, basis: 'inferred', evidence: [] });
  expect(offsetColumn(moment.hi, moment, zero)).toMatch(shown);
});
