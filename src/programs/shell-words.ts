/** Splits a script of a POSIX shell into words and operators (POSIX.1-2017, Shell Command Language, 2.2 and 2.3). */

export interface Word {
  /** Without quotes and backslashes. Expansions stay as they are written. */
  text: string;
  /** It contains an expansion, whose result is not known here. */
  isDynamic: boolean;
  isQuoted: boolean;
}

/** An operator is a string, without the number of a file descriptor. */
export type Token = Word | string;

export const plainWord = (text: string): Word => ({ text, isDynamic: /\$\(/.test(text), isQuoted: false });

/** A quote or parenthesis that is not closed, syntax of one shell alone, or more than can be read at once. */
export class Unreadable extends Error {}

const most = { characters: 16 * 1024, tokens: 1_500, depth: 40 };

const blank = /(?:[^\S\n]|\\\n|(?<![^\s;&|()])#.*)+/y;
/** A test or a computation of bash, which starts no program. */
const test = /\[\[\s(?:[^\n]{0,400}?\s)?\]\]|\(\([^()\n]*\)\)/y;
const operator = /(?:\d+(?=[<>]))?(;;&|;;|;&|&&|\|\||&>>?|\|&|<<-|<<<|<<|[<>]&|>>|>\||<>|[\n;&|()<>])/y;

/** Throws Unreadable. */
export function tokensOf(text: string): Token[] {
  if (text.length > most.characters) throw new Unreadable();
  const tokens: Token[] = [];
  const hereDocs: string[] = [];
  for (let at = 0; at < text.length;) {
    if (tokens.length > most.tokens) throw new Unreadable();
    const matched = (pattern: RegExp) => Object.assign(pattern, { lastIndex: at }).exec(text) ?? ['', ''];
    const [skipped] = matched(blank);
    const [tested] = matched(test);
    const [found, sign = ''] = matched(operator);
    if (skipped || tested || found) at += (skipped || tested || found).length;
    if (skipped) continue;
    if (tested) tokens.push(plainWord('['));
    else if (found) tokens.push(sign);
    else {
      const { word, end } = wordAt(text, at);
      const before = tokens.at(-1);
      if (before === '<<' || before === '<<-') hereDocs.push(word.text);
      tokens.push(word);
      at = end;
    }
    if (found === '\n') at = afterHereDocs(text, at, hereDocs.splice(0));
  }
  return tokens;
}

function afterHereDocs(text: string, start: number, ends: readonly string[]): number {
  let at = start;
  for (const end of ends)
    for (let line = ''; at < text.length && line !== end;) {
      const [whole = ''] = /.*/.exec(text.slice(at, at + most.characters)) ?? [];
      line = whole.replace(/^\t+/, '');
      at += whole.length + 1;
    }
  return at;
}

function wordAt(text: string, start: number): { word: Word; end: number } {
  const word = { text: '', isDynamic: false, isQuoted: false };
  let at = start;
  while (at < text.length && !/[\s;&|()<>]/.test(text[at] ?? '')) {
    const next = unitEnd(text, at, 0);
    const unit = text.slice(at, next);
    const isQuote = /^["'\\]/.test(unit);
    const inner = unit.startsWith('\\') ? unit.slice(1) : isQuote ? unit.slice(1, -1) : unit;
    word.isQuoted ||= isQuote;
    word.isDynamic ||= unit.startsWith('"') ? /(?<!\\)[$`]/.test(inner) : /^[$`*?]/.test(unit);
    word.text += unit.startsWith('"') ? inner.replace(/\\(["\\$`\n])/g, '$1') : inner;
    at = next;
  }
  return { word, end: at };
}

/** The end of a quoted part, an expansion, or a character. */
function unitEnd(text: string, at: number, depth: number): number {
  const char = text[at] ?? '';
  if (char === '\\') return Math.min(at + 2, text.length);
  if (char === '"') return closing(text, at + 1, char, depth);
  if (char === '$' && text[at + 1] === '(') return closing(text, at + 2, ')', depth);
  if (char === '$' && text[at + 1] === '{') return closing(text, at + 2, '}', depth);
  if (char !== "'" && char !== '`') return at + 1;
  const end = text.indexOf(char, at + 1);
  if (end === -1) throw new Unreadable();
  return end + 1;
}

/** The place after the character that closes. A single quote is an ordinary character within double quotes and `${…}`. */
function closing(text: string, start: number, end: string, depth: number): number {
  if (depth > most.depth) throw new Unreadable();
  for (let at = start; at < text.length;) {
    const char = text[at];
    if (char === end) return at + 1;
    if (char === '(' && end === ')') at = closing(text, at + 1, end, depth + 1);
    else at = char === "'" && end !== ')' ? at + 1 : unitEnd(text, at, depth + 1);
  }
  throw new Unreadable();
}
