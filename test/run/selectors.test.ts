/** Label selectors, as in kubectl and the API. */
import { describe, expect, it } from 'vitest';
import { covers, matches, printLabels, readLabels } from '../../src/run/selectors.ts';
import type { LabelSelector } from '../../src/run/selectors.ts';

const read = (text: string): LabelSelector => readLabels(text) ?? { matchLabels: { never: 'read' } };

type Labels = Record<string, string>;

describe('a label selector from the command line', () => {
  it.each<[string, Labels[], Labels[]]>([
    ['app=web', [{ app: 'web' }], [{ app: 'db' }, {}]],
    ['app == web , tier', [{ app: 'web', tier: '' }], [{ app: 'web' }]],
    ['app!=web', [{ app: 'db' }, {}], [{ app: 'web' }]],
    ['app in (web, db),!canary', [{ app: 'db' }], [{ app: 'db', canary: '1' }, { app: 'x' }]],
    ['example.com/app notin (a,b)', [{}, { 'example.com/app': 'c' }], [{ 'example.com/app': 'a' }]],
    ['', [{}, { app: 'web' }], []],
  ])('%j selects as the API server would', (text, selected, others) => {
    for (const labels of selected) expect(matches(read(text), labels)).toBe(true);
    for (const labels of others) expect(matches(read(text), labels)).toBe(false);
    // The printed selector parses to the same selector.
    expect(readLabels(printLabels(read(text)))).toEqual(readLabels(text));
  });

  it.each(['a=b,', 'a in b', 'a in (b', '=a', 'a>1', 'a b', '!'])('%j is not guessed at', (text) =>
    expect(readLabels(text)).toBeUndefined(),
  );
});

describe('one selector covers another', () => {
  it.each([
    ['app', 'app=web'],
    ['app in (web,db)', 'app=web'],
    ['app in (web,db)', 'app in (db),tier=x'],
    ['app!=db', 'app=web'],
    ['app notin (a)', 'app notin (a,b)'],
    ['!canary', 'app=web,!canary'],
    ['', 'app=web'],
  ])('%j covers %j, and not the other way round', (wide, narrow) => {
    expect(covers(read(wide), read(narrow))).toBe(true);
    expect(covers(read(narrow), read(wide))).toBe(false);
  });

  it('if both are equivalent', () => expect(covers(read('a=b,c'), read('c,a==b'))).toBe(true));
});
