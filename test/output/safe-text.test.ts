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
import { casesIn } from '../helpers/case-file.ts';
import { unseenIn } from './helpers/unseen.ts';

const formats: Record<string, (text: string) => string> = {
  terminal: forTerminal,
  markup: forMarkup,
  Markdown: forMarkdown,
  'a code span': forMarkdownCode,
  'a workflow command': forCommand,
  'a command property': forCommandProperty,
  JSON: forJson,
};

interface Case {
  in: string;
  text: string;
  is: string;
}

describe('a string from a cluster', () => {
  it.each(casesIn<Case>(new URL('safe-text.yaml', import.meta.url), ['in', 'text', 'is']))(
    'is inert: %s',
    (_, { in: format, text, is }) => expect(formats[format]?.(text)).toBe(is),
  );

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
