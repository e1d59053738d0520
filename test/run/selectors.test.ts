/** Label selectors, as in the API. */
import { expect, it } from 'vitest';
import { matches, printLabels, type LabelSelector } from '../../src/run/streams/selectors.ts';

type Labels = Record<string, string>;

const expression = (key: string, operator: string, ...values: string[]) => ({ key, operator, values });

it.each<[string, LabelSelector, Labels[], Labels[]]>([
  ['app=web', { matchLabels: { app: 'web' } }, [{ app: 'web' }], [{ app: 'db' }, {}]],
  [
    'app=web,tier',
    { matchLabels: { app: 'web' }, matchExpressions: [expression('tier', 'Exists')] },
    [{ app: 'web', tier: '' }],
    [{ app: 'web' }],
  ],
  ['app notin (web)', { matchExpressions: [expression('app', 'NotIn', 'web')] }, [{ app: 'db' }, {}], [{ app: 'web' }]],
  [
    'app in (web,db),!canary',
    { matchExpressions: [expression('app', 'In', 'web', 'db'), expression('canary', 'DoesNotExist')] },
    [{ app: 'db' }],
    [{ app: 'db', canary: '1' }, { app: 'x' }],
  ],
  [
    'example.com/app notin (a,b)',
    { matchExpressions: [expression('example.com/app', 'NotIn', 'a', 'b')] },
    [{}, { 'example.com/app': 'c' }],
    [{ 'example.com/app': 'a' }],
  ],
  ['', {}, [{}, { app: 'web' }], []],
])('%j selects the same as in the API server', (text, selector, selected, others) => {
  expect(printLabels(selector)).toBe(text);
  for (const labels of selected) expect(matches(selector, labels)).toBe(true);
  for (const labels of others) expect(matches(selector, labels)).toBe(false);
});

it('an operator that the API does not have selects nothing', () =>
  expect(matches({ matchExpressions: [expression('app', 'Gt', '1')] }, { app: '2' })).toBe(false));
