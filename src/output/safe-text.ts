/**
 * The only place that makes strings from a cluster safe to print. Names, messages and reasons come from anybody who can
 * write to the API server (or edit the recording), and every format has its own attacks: escape sequences and bidi marks
 * in a terminal, `<` in markup, mentions in Markdown, a line feed in a workflow command.
 *
 * Each function takes raw text and returns text that is inert in its format. No other code escapes anything.
 */

/** Longer strings are cut, with an ellipsis: nobody reads more, and a report may contain a string of a megabyte. */
const defaultLimit = 500;

/** Controls, format and bidi characters, line separators, everything drawn with no width, noncharacters, surrogates. */
const unseen = (): RegExp =>
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** Tests first for plain ASCII, which most text is: V8 takes two milliseconds to look up the sets of `unseen`. */
const withoutUnseen = (text: string, write: (character: string) => string): string =>
  /[^ -~]/.test(text) ? text.replace(unseen(), write) : text;

/**
 * Text for a terminal, and the base of the other functions: active and invisible characters become visible (`\x1b`,
 * `\u202e`, `\n`), a lone surrogate becomes U+FFFD. `limit` is in UTF-16 units of the input.
 */
export function forTerminal(text: string, limit = defaultLimit): string {
  const escapedMark = (mark: string): string => `\\x${mark.charCodeAt(0).toString(16)}${mark.slice(1)}`;
  return withoutUnseen(cut(text, limit), visible).replace(workflowCommand, escapedMark);
}

/**
 * The start of a command for a GitHub runner that reads the log: `::name …::` at the beginning of a line (after wrapping, any
 * word can be there), and for older runners `##[name]` (Azure Pipelines: `##vso[name]`) anywhere.
 */
const workflowCommand = /(?<=^|\s)::(?=[a-z][^\n]*::)|##(?=\w*\[)/gi;

/** Text or a quoted attribute value, in HTML or XML 1.0. The references are numeric because both know those. */
export const forMarkup = (text: string, limit = defaultLimit): string =>
  forTerminal(text, limit).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * Prose in GitHub-flavoured Markdown, also inside a table's cell. An empty comment separates `@`, `#` and `GH-` from what
 * follows, since GitHub looks for mentions and issues after it has removed backslashes.
 */
export function forMarkdown(text: string, limit = defaultLimit): string {
  return forTerminal(text, limit)
    .replace(/[\\`*_[\]<>|~#!&$]/g, '\\$&')
    .replace(/:(?=\/\/)|(?<=www)\./gi, '\\$&')
    .replace(/^(?:[-+=]|\d+(?=[.)]))/, (mark) => (/\d/.test(mark) ? `${mark}\\` : `\\${mark}`))
    .replace(/@|(?:#|\bGH-)(?=\d)/gi, '$&<!-- -->');
}

/** A name as a Markdown code span, in which nothing is a mention, a link or markup; also inside a table's cell. */
export function forMarkdownCode(text: string): string {
  const inert = forTerminal(text).replaceAll('|', '\\|');
  const fence = backticksAround(inert);
  const pad = inert === '' || /^[` ]|[` ]$/.test(inert) ? ' ' : '';
  return `${fence}${pad}${inert}${pad}${fence}`;
}

/** More backticks than the text has in a row, at least `least`. */
export const backticksAround = (text: string, least = 1): string =>
  '`'.repeat(Math.max(least, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));

/** One line for a chat. Slack reads mentions and links in angle brackets, and these three references. */
export const forChat = (text: string): string =>
  forTerminal(text, 2000).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The message of a GitHub workflow command: one line, always. */
export const forCommand = (text: string, limit = 4 * defaultLimit): string =>
  forTerminal(text, limit).replaceAll('%', '%25');

/** A property's value in a GitHub workflow command. */
export const forCommandProperty = (text: string): string =>
  forCommand(text, defaultLimit).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** A JSON document, made safe to print: active and invisible characters become `\uXXXX`, which means the same. */
export const forJson = (json: string): string => escaped(json, units).replace(/##(?=\w*\[)/g, `${units('#')}#`);

/** The same for YAML, in which two escapes of 16 bits do not form one character. */
export const forYaml = (yaml: string): string =>
  escaped(yaml, (character) => (character.length > 1 ? `\\U${hexOf(character, 8)}` : units(character)));

/** Escapes a whole document, except its line feeds. */
const escaped = (document: string, write: (character: string) => string): string =>
  withoutUnseen(document, (character) => (character === '\n' ? character : write(character)));

/** Whether a string contains anything that `forTerminal` would make visible. */
export const hasUnseen = (text: string): boolean => text.search(unseen()) >= 0;

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // The first half of a surrogate pair would be printed as a broken character.
  return `${text.slice(0, limit).replace(/[\ud800-\udbff]$/, '')}…`;
}

function visible(character: string): string {
  if (/\p{Cs}/u.test(character)) return '\ufffd';
  const shortEscapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  if (character.length > 1) return `\\u{${hexOf(character)}}`;
  return shortEscapes[character] ?? (character > '\xff' ? units(character) : `\\x${hexOf(character, 2)}`);
}

/** `\u2028` for each of its one or two UTF-16 units. */
const units = (character: string): string => character.replace(/[^]/g, (unit) => `\\u${hexOf(unit, 4)}`);

const hexOf = (character: string, digits = 1): string =>
  (character.codePointAt(0) ?? 0).toString(16).padStart(digits, '0');

/** Several lines of our own that may quote strings from the cluster. */
export const safeLines = (text: string): string => text.replace(/[^\n]+/g, (line) => forTerminal(line, 2000));
