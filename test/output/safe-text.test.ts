import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  forCommand,
  forCommandProperty,
  forJson,
  forMarkdown,
  forMarkdownCode,
  forMarkup,
  forTerminal,
  hasUnseen,
} from '../../src/output/safe-text.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { unseenIn } from './helpers/unseen.ts';

const table: readonly [string, (text: string) => string, string, string][] = [
  ['a terminal', forTerminal, '\x1b[31mred', '\\x1b[31mred'],
  ['a terminal', forTerminal, 'a\r\nb\tc\0', 'a\\r\\nb\\tc\\x00'],
  ['a terminal', forTerminal, '\x9b31m\x7f\x85', '\\x9b31m\\x7f\\x85'],
  ['a terminal', forTerminal, '\u202eabc\u2066\u061c', '\\u202eabc\\u2066\\u061c'],
  ['a terminal', forTerminal, 'a\u2028b\u2029c\u200bd\ufeffe\u00adf', 'a\\u2028b\\u2029c\\u200bd\\ufeffe\\xadf'],
  ['a terminal', forTerminal, '\ud800 \udc00 \u{1f642}', '\ufffd \ufffd \u{1f642}'],
  ['a terminal', forTerminal, '\u{e0041}\ufffe', '\\u{e0041}\\ufffe'],
  ['a terminal', forTerminal, 'plain naïve 漢字 e\u0301', 'plain naïve 漢字 e\u0301'],
  ['markup', forMarkup, `<b a="x" c='y'>&]]></b>`, '&#60;b a=&#34;x&#34; c=&#39;y&#39;&#62;&#38;]]&#62;&#60;/b&#62;'],
  ['markup', forMarkup, '\0\uffff', '\\x00\\uffff'],
  ['Markdown', forMarkdown, 'a|b `c` *d* _e_ <f>', 'a\\|b \\`c\\` \\*d\\* \\_e\\_ \\<f\\>'],
  ['Markdown', forMarkdown, '@team see #12', '@<!-- -->team see \\#<!-- -->12'],
  ['Markdown', forMarkdown, 'https://x www.y', 'https\\:// www\\.y'.replace('// ', '//x ')],
  ['Markdown', forMarkdown, '- item', '\\- item'],
  ['Markdown', forMarkdown, '1. item', '1\\. item'],
  ['a code span', forMarkdownCode, 'web-0', '`web-0`'],
  ['a code span', forMarkdownCode, 'a`b``c', '```a`b``c```'],
  ['a code span', forMarkdownCode, '`a|b', '`` `a\\|b ``'],
  ['a workflow command', forCommand, '100%\r\n::error::x', '100%25\\r\\n::error::x'],
  ['a command property', forCommandProperty, 'a:b,c%', 'a%3Ab%2Cc%25'],
  ['JSON', forJson, '"a\u202eb\x7f\u2028"\n', '"a\\u202eb\\u007f\\u2028"\n'],
  ['JSON', forJson, '"\u{e0041}"', '"\\udb40\\udc41"'],
];

describe('a string from a cluster', () => {
  it.each(table)('is inert in %s (case %#)', (_format, safe, raw, expected) => {
    expect(safe(raw)).toBe(expected);
  });

  it('is truncated with an ellipsis, never within a surrogate pair', () => {
    expect(forTerminal('abcdef', 3)).toBe('abc…');
    expect(forTerminal('ab\u{1f642}cd', 3)).toBe('ab…');
    expect(forTerminal('abc', 3)).toBe('abc');
    expect(forTerminal('x'.repeat(1_000_000)).length).toBeLessThan(1000);
  });

  it('contains no control, bidi or invisible character after escaping', () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 40 })
      .chain((a) => fc.uint16Array({ maxLength: 20 }).map((units) => a + String.fromCharCode(...units)));
    fc.assert(
      fc.property(text, (raw) => {
        for (const safe of [forTerminal, forMarkup, forMarkdown, forMarkdownCode, forCommand, forCommandProperty]) {
          const shown = safe(raw);
          expect(unseenIn(shown)).toEqual([]);
          expect(shown).not.toContain('\n');
          expect(hasUnseen(shown)).toBe(false);
        }
        expect(forMarkup(raw)).not.toMatch(/[<>"']/);
        expect(JSON.parse(forJson(JSON.stringify(raw)))).toBe(raw);
      }),
      { seed: 20_261_120, numRuns: 2000 },
    );
  });
});

/** Like actions/runner (ActionCommand.TryParseV2, TryParse): at the beginning of a line after blanks, or anywhere. */
const isCommand = (line: string): boolean => /^\s*::.*::/.test(line) || /##(?:\w*)\[/.test(line);

describe('text that a CI runner would execute as a command', () => {
  it.each([
    '::error title=x::y',
    '  ::set-env name=A::b',
    'so it was: ::warning::z',
    '##[error]x',
    '##vso[task.setvariable variable=a]b',
  ])('is inert in every format: %j', (text) => {
    for (const write of [forTerminal, forMarkup, forMarkdown, forCommand]) {
      const shown = write(text);
      // A line may be wrapped at any blank.
      const tails = [...shown.matchAll(/\s/g)].map(({ index }) => shown.slice(index));
      expect([shown, ...tails].filter(isCommand)).toEqual([]);
    }
    expect(isCommand(forJson(JSON.stringify({ text })))).toBe(false);
  });

  it('is inert in an error on stderr', async () => {
    const { stderr } = await runMain(['##[error]x', '--no-config']);
    expect(stderr).not.toBe('');
    expect(stderr.split('\n').filter(isCommand)).toEqual([]);
  });

  it('is not what only resembles it', () => {
    for (const text of ['std::vector', 'listen on ::1', 'a ## b', '# [x]', '::1']) expect(forTerminal(text)).toBe(text);
  });
});
