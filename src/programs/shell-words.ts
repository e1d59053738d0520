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

const blank = /(?:[^\S\n]|\\\n|(?<![^\s;&|()])#.*)+/y;
/** A test or a computation of bash, which starts no program. */
const test = /\[\[\s(?:[^\n]{0,200}?\s)?\]\]|\(\([^()\n]*\)\)/y;
const operator = /(?:\d+(?=[<>]))?(?:;;&|;;|;&|&&|\|\||&>>?|\|&|<<-|<<<|<<|[<>]&|>>|>\||<>|[\n;&|()]|[<>](?!\())/y;
/** Parentheses and braces nest three deep. */
const inside = String.raw`\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`;
const braces = String.raw`\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\$(?![({])`;
const quoted = String.raw`'[^']*'|"(?:\\[^]|\$${inside}|${braces}|[^"\\$])*"|\x60[^\x60]*\x60`;
/** An escaped character, a quoted part, an expansion, or plain characters. */
const unit = new RegExp(String.raw`\\[^]|${quoted}|(?:[$<>]|(?<==))${inside}|${braces}|[^\s;&|()<>'"\\$\x60]+`, 'y');

const hereDoc = (end: string): RegExp =>
  new RegExp(String.raw`(?:.*\n)*?\t*${end.replace(/\W/g, String.raw`\$&`)}(?:\n|$)`, 'y');

/** Undefined: a quote or parenthesis that is not closed, syntax of one shell alone, or more than can be read at once. */
export function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  const hereDocs: string[] = [];
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [found = ''] = pattern.exec(text) ?? [];
    at += found.length;
    return found;
  };
  while (at < text.length) {
    if (text.length > 16 * 1024 || tokens.length > 600) return undefined;
    if (take(blank)) continue;
    const before = tokens.at(-1);
    const token = take(test) ? plainWord('[') : take(operator).replace(/^\d+/, '') || wordFrom(take);
    if (token === undefined) return undefined;
    if (typeof token === 'object' && (before === '<<' || before === '<<-')) hereDocs.push(token.text);
    tokens.push(token);
    if (token === '\n') for (const end of hereDocs.splice(0)) if (!take(hereDoc(end))) at = text.length;
  }
  return tokens;
}

function wordFrom(take: (pattern: RegExp) => string): Word | undefined {
  const word: Word = { text: '', isDynamic: false, isQuoted: false };
  let part = take(unit);
  if (part === '') return undefined;
  for (; part !== ''; part = take(unit)) {
    const quote = /^["'\\]/.exec(part)?.[0];
    const inner = quote === undefined ? part : part.slice(1, quote === '\\' ? undefined : -1);
    word.isQuoted ||= quote !== undefined;
    word.isDynamic ||= quote === '"' ? /(?<!\\)[$`]/.test(inner) : quote === undefined && /[$`*?<>]/.test(part);
    word.text += quote === '"' ? inner.replace(/\\(["\\$`\n])/g, '$1') : inner;
  }
  return word;
}

const secondsPerUnit: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 };

/** Of a duration as Go (`1m30s`), ISO 8601 (`PT90S`) or `sleep` takes it, where a bare number counts seconds. */
export function secondsOf(text: string): number | undefined {
  if (!/^((\d+(\.\d+)?(ms|[smhd]|$))+|PT(\d+(\.\d+)?[HMS])+)$/.test(text)) return undefined;
  const parts = [...text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)([a-z]*)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (secondsPerUnit[unit || 's'] ?? 1), 0);
}
