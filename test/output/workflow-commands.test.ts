/** Text that a CI runner would execute as a command is escaped in every format that prints strings of the cluster. */
import { describe, expect, it } from 'vitest';
import { forCommand, forJson, forMarkdown, forMarkup, forTerminal } from '../../src/output/safe-text.ts';
import { runMain } from '../cli/helpers/in-process.ts';

/** Like actions/runner (ActionCommand.TryParseV2, TryParse): at the beginning of a line after blanks, or anywhere. */
const isCommand = (line: string): boolean => /^\s*::.*::/.test(line) || /##(?:\w*)\[/.test(line);

const asJson = (text: string): string => forJson(JSON.stringify({ text }));

describe.each([
  '::error title=x::y',
  '  ::set-env name=A::b',
  'so it was: ::warning::z',
  '##[error]x',
  'text ##[group]g',
  '##vso[task.setvariable variable=a]b',
])('%j', (text) => {
  it.each([
    ['a terminal', forTerminal],
    ['markup', forMarkup],
    ['Markdown', forMarkdown],
    ['the message of a command', forCommand],
    ['JSON', asJson],
  ])('is inert in %s', (_, write) => {
    const shown = write(text);
    expect(isCommand(shown)).toBe(false);
    // A line may be wrapped at any blank; JSON is not wrapped.
    const tails = [...shown.matchAll(/\s/g)].map(({ index }) => shown.slice(index));
    if (write !== asJson) expect(tails.filter(isCommand)).toEqual([]);
  });
});

it('is inert in an error on stderr', async () => {
  const { stderr } = await runMain(['##[error]x', '--no-config']);
  expect(stderr).not.toBe('');
  expect(stderr.split('\n').filter(isCommand)).toEqual([]);
});

it('does not change text that only resembles a command', () => {
  for (const text of ['std::vector', 'listen on ::1', 'a ## b', '# [x]', '::1']) expect(forTerminal(text)).toBe(text);
});

it('escapes JSON without changing its value', () => {
  const value = { log: '##[error]x \u009b31m \u202e' };
  expect(JSON.parse(forJson(JSON.stringify(value)))).toEqual(value);
});
