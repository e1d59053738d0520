/**
 * The one place that makes a string from a cluster safe to show. Names, messages and reasons come from anybody who may
 * write to the API server (or edited the recording), and every format has its own way to be tricked: a terminal by
 * escape sequences and bidi marks, markup by `<`, Markdown by mentions, a workflow command by a line feed.
 *
 * Each function takes raw text and returns text that is inert in its format; nothing else may be escaped again.
 */

/** Longer strings are cut, with an ellipsis: nobody reads more, and a report may hold a string of a megabyte. */
const defaultLimit = 500;

/** Controls, format and bidi characters, line separators, everything drawn with no width, noncharacters, surrogates. */
function unseen(): RegExp {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;
}

/** Asked of plain text first, which most is: V8 takes two milliseconds to look up the sets of `unseen`. */
const withoutUnseen = (text: string, write: (character: string) => string): string =>
  /[^ -~]/.test(text) ? text.replace(unseen(), write) : text;

/**
 * Text for a terminal, and the base of all the others: what acts or hides becomes visible (`\x1b`, `\u202e`, `\n`),
 * a lone surrogate U+FFFD. `limit` is in UTF-16 units of the input.
 */
export function forTerminal(text: string, limit = defaultLimit): string {
  return withoutUnseen(cut(text, limit), visible).replace(workflowCommand, (mark) => hexOf(mark) + mark.slice(1));
}

/**
 * What begins a command for a GitHub runner that reads the log: `::name …::` at the beginning of a line (also of one that is
 * only wrapped there), and for older runners `##[name]` (Azure
 * Pipelines: `##vso[name]`) anywhere.
 */
const workflowCommand = /(?<=^|\s)::(?=[a-z][^\n]*::)|##(?=\w*\[)/gi;

const hexOf = (mark: string): string => `\\x${mark.charCodeAt(0).toString(16)}`;

/** Text or a quoted attribute value, in HTML or XML 1.0. The references are numeric because both know those. */
export function forMarkup(text: string, limit = defaultLimit): string {
  return forTerminal(text, limit).replace(/[&<>"'`]/g, reference);
}

/**
 * Prose in GitHub-flavoured Markdown, also inside a table's cell. An empty comment parts `@` from what follows, since
 * mentions are looked for after backslashes are gone.
 */
export function forMarkdown(text: string, limit = defaultLimit): string {
  return forTerminal(text, limit)
    .replace(/[\\`*_[\]<>|~#!&$]/g, '\\$&')
    .replace(/:(?=\/\/)|(?<=www)\./gi, '\\$&')
    .replace(/^(?:[-+=]|\d+(?=[.)]))/, leading)
    .replaceAll('@', '@<!-- -->');
}

/** A name as a Markdown code span, in which nothing is a mention, a link or markup; also inside a table's cell. */
export function forMarkdownCode(text: string, limit = defaultLimit): string {
  const inert = forTerminal(text, limit).replaceAll('|', '\\|');
  const longest = Math.max(0, ...(inert.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = inert === '' || /^[` ]|[` ]$/.test(inert) ? ' ' : '';
  return `${fence}${pad}${inert}${pad}${fence}`;
}

/** The message of a GitHub workflow command: one line, always. */
export function forCommand(text: string, limit = 4 * defaultLimit): string {
  return forTerminal(text, limit).replaceAll('%', '%25');
}

/** A property's value in a GitHub workflow command. */
export function forCommandProperty(text: string, limit = defaultLimit): string {
  return forCommand(text, limit).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Text of a JSON document, made safe to look at: what acts or hides is written as `\uXXXX`, which means the same. */
export function forJson(json: string): string {
  return escaped(json, units).replace(/##(?=\w*\[)/g, `${unit(0x23)}#`);
}

/** The same of YAML, whose escapes of 16 bits do not join. */
export function forYaml(yaml: string): string {
  return escaped(yaml, (character) => (character.length > 1 ? longUnit(character) : units(character)));
}

/** Of a whole document, whose line feeds are its own. */
const escaped = (document: string, write: (character: string) => string): string =>
  withoutUnseen(document, (character) => (character === '\n' ? character : write(character)));

/** Whether a string holds anything that `forTerminal` would make visible. */
export function hasUnseen(text: string): boolean {
  return text.search(unseen()) >= 0;
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // The first half of a pair would be shown as a broken character.
  const head = text.slice(0, limit).replace(/[\ud800-\udbff]$/, '');
  return `${head}…`;
}

const shortEscapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  const hex = code.toString(16);
  if (code > 0xffff) return `\\u{${hex}}`;
  return shortEscapes[character] ?? (code > 0xff ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`);
}

function units(character: string): string {
  return Array.from({ length: character.length }, (_, index) => unit(character.charCodeAt(index))).join('');
}

const unit = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;
const longUnit = (character: string): string => `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
const reference = (character: string): string => `&#${character.charCodeAt(0)};`;
const leading = (mark: string): string => (/\d/.test(mark) ? `${mark}\\` : `\\${mark}`);

/** Several lines of ours that may quote what the cluster wrote. */
export const safeLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => forTerminal(line, 2000))
    .join('\n');
