/** Label selectors, as in the API. */
import { expect, it } from 'vitest';
import { casesIn } from '../helpers/case-file.ts';
import { matches, printLabels, type LabelSelector } from '../../src/run/streams/selectors.ts';

type Labels = Record<string, string>;

interface Case {
  selector: LabelSelector;
  selects: Labels[];
  others: Labels[];
}

it.each(casesIn<Case>(new URL('selectors.yaml', import.meta.url), ['selector', 'selects', 'others']))(
  '%j selects the same as in the API server',
  (text, { selector, selects, others }) => {
    expect(printLabels(selector)).toBe(text);
    for (const labels of selects) expect(matches(selector, labels)).toBe(true);
    for (const labels of others) expect(matches(selector, labels)).toBe(false);
  },
);

it('an operator that the API does not have selects nothing', () =>
  expect(matches({ matchExpressions: [{ key: 'app', operator: 'Gt', values: ['1'] }] }, { app: '2' })).toBe(false));
