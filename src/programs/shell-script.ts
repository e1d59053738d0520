/**
 * Reads a script of a POSIX shell into a tree, as far as it decides which process gets a signal (POSIX.1-2017, Shell
 * Command Language, 2.10). What it cannot read (a syntax of one shell alone, a broken quote) makes the whole script
 * unreadable: half a script would give wrong answers.
 */

export interface Word {
  /** Without quotes and backslashes. Expansions stay as they are written. */
  text: string;
  /** It contains an expansion, whose result is not known here. */
  isDynamic: boolean;
  isQuoted: boolean;
}

export type Command =
  | { kind: 'simple'; assignments: readonly Word[]; words: readonly Word[]; hasRedirect: boolean; hasHereDoc: boolean }
  | { kind: 'brace' | 'subshell'; body: readonly ScriptItem[]; hasRedirect: boolean }
  | { kind: 'if' | 'case'; branches: readonly (readonly ScriptItem[])[]; hasRedirect: boolean }
  | { kind: 'while' | 'for'; condition: readonly ScriptItem[]; body: readonly ScriptItem[]; hasRedirect: boolean }
  | { kind: 'function'; name: string; body: Command }
  | { kind: 'pipeline'; parts: readonly Command[] }
  | { kind: 'not' | 'time'; command: Command };

/** A command and what follows it: `&` runs it in the background. */
export interface ScriptItem {
  command: Command;
  after: ';' | '&&' | '||' | '&' | '';
}

export interface Script {
  items: readonly ScriptItem[];
  /** Its first line is empty. */
  startsLine: boolean;
  /** What stands after the last command: some shells then do not notice that it is the last. */
  end: 'comment' | 'newline' | 'semicolon' | 'nothing';
}

type Token = { kind: 'word'; word: Word } | { kind: 'operator'; text: string };

const maxLength = 16 * 1024;
const maxTokens = 1_500;
const maxDepth = 40;

/** Undefined: not readable, or too long to answer at once. */
export function parseScript(text: string): Script | undefined {
  if (text.length > maxLength) return undefined;
  try {
    const parser = parserOf(tokensOf(text));
    const items = parser.list(0, []);
    return parser.isAtEnd() ? { items, startsLine: /^[ \t]*\n/.test(text), end: endOf(text) } : undefined;
  } catch (cause) {
    if (cause instanceof Unreadable) return undefined;
    throw cause;
  }
}

/** The words of each command at the top of a script; `isPlain`: nothing else is in it, as a loop or a pipeline would be. */
export function commandsIn(text: string): { commands: readonly (readonly string[])[]; isPlain: boolean } {
  const items = parseScript(text)?.items ?? [];
  const commands = items.flatMap(({ command, after }) =>
    command.kind === 'simple' && after !== '&' ? [command.words.map((word) => word.text)] : [],
  );
  return { commands, isPlain: items.length > 0 && commands.length === items.length };
}

class Unreadable extends Error {}

function endOf(text: string): Script['end'] {
  const trimmed = text.trimEnd();
  if (text.slice(trimmed.length).includes('\n')) return 'newline';
  if (trimmed.endsWith(';')) return 'semicolon';
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  return /(^|[\s;&|])#[^'"]*$/.test(lastLine.slice(-400)) ? 'comment' : 'nothing';
}

const operator = /(?![<>]\()(?:\d+(?=[<>]))?(?:;;&|;;|;&|&&|\|\||&>>?|\|&|<<-|<<<|<<|>>|<&|>&|>\||<>|[;&|()<>])/y;
const singles = ';&|()<>';
const isRedirect = (text: string): boolean => /^\d*(<|>|&>)/.test(text);

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const hereDocs: string[] = [];
  let at = 0;
  while (at < text.length) {
    if (tokens.length > maxTokens) throw new Unreadable();
    const char = text[at] ?? '';
    if (char === '\n') {
      tokens.push({ kind: 'operator', text: '\n' });
      at = afterHereDocs(text, at + 1, hereDocs.splice(0));
    } else if (/\s/.test(char)) at += 1;
    else if (char === '\\' && text[at + 1] === '\n') at += 2;
    else if (char === '#') at = endOfLine(text, at);
    else {
      const found = operatorAt(text, at);
      if (found !== undefined) {
        tokens.push({ kind: 'operator', text: found });
        at += found.length;
      } else {
        const { word, end } = wordAt(text, at);
        const before = tokens.at(-1);
        if (before?.kind === 'operator' && /<<-?$/.test(before.text)) hereDocs.push(word.text);
        tokens.push({ kind: 'word', word });
        at = end;
      }
    }
  }
  return tokens;
}

/** An operator, or a redirection with the number of its file descriptor. `<(…)` and `>(…)` are words. */
function operatorAt(text: string, at: number): string | undefined {
  operator.lastIndex = at;
  return operator.exec(text)?.[0];
}

const endOfLine = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
};

function afterHereDocs(text: string, start: number, ends: readonly string[]): number {
  let at = start;
  for (const end of ends)
    for (let line = ''; at < text.length && line !== end;) {
      const next = endOfLine(text, at);
      line = text.slice(at, next).replace(/^\t+/, '');
      at = next + 1;
    }
  return at;
}

function wordAt(text: string, start: number): { word: Word; end: number } {
  let [at, value, isDynamic, isQuoted] = [start, '', false, false];
  while (at < text.length) {
    const char = text[at] ?? '';
    if (/[<>]/.test(char) && at === start && text[at + 1] === '(') {
      const end = closingOf(text, at + 2, 0);
      return { word: { text: text.slice(at, end), isDynamic: true, isQuoted }, end };
    }
    if (/\s/.test(char) || singles.includes(char)) break;
    if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) throw new Unreadable();
      value += text.slice(at + 1, end);
      [at, isQuoted] = [end + 1, true];
    } else if (char === '"') {
      const end = closingQuote(text, at + 1);
      const inner = text.slice(at + 1, end);
      isDynamic ||= /(?<!\\)[$`]/.test(inner);
      value += inner.replace(/\\(["\\$`])/g, '$1').replace(/\\\n/g, '');
      [at, isQuoted] = [end + 1, true];
    } else if (char === '\\') {
      value += text[at + 1] === '\n' ? '' : (text[at + 1] ?? '');
      [at, isQuoted] = [at + 2, true];
    } else if (char === '$' || char === '`') {
      const end = endOfExpansion(text, at, 0);
      value += text.slice(at, end);
      [at, isDynamic] = [end, true];
    } else {
      value += char;
      isDynamic ||= /[*?]/.test(char);
      at += 1;
    }
  }
  return { word: { text: value, isDynamic, isQuoted }, end: at };
}

/** The end of `$NAME`, `${…}`, `$(…)`, `$((…))` or a command in backquotes. */
function endOfExpansion(text: string, at: number, depth: number): number {
  if (text[at] === '`') {
    const end = text.indexOf('`', at + 1);
    if (end === -1) throw new Unreadable();
    return end + 1;
  }
  if (text[at + 1] === '(') return closingOf(text, at + 2, depth + 1);
  if (text[at + 1] === '{') {
    const end = text.indexOf('}', at);
    if (end === -1) throw new Unreadable();
    return end + 1;
  }
  return at + 1 + (/^([A-Za-z_]\w*|[\d@*#?$!-])?/.exec(text.slice(at + 1, at + 80))?.[0].length ?? 0);
}

/** The place after the parenthesis that closes, past quotes and nested parentheses. */
function closingOf(text: string, start: number, depth: number): number {
  if (depth > maxDepth) throw new Unreadable();
  for (let at = start, open = 1; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === '\\') at += 1;
    else if (char === "'") at = indexOrEnd(text, "'", at + 1);
    else if (char === '"') at = closingQuote(text, at + 1);
    else if (char === '(') open += 1;
    else if (char === ')' && (open -= 1) === 0) return at + 1;
  }
  throw new Unreadable();
}

const indexOrEnd = (text: string, what: string, from: number): number => {
  const found = text.indexOf(what, from);
  return found === -1 ? text.length : found;
};

function closingQuote(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
    else if (text[at] === '$' && text[at + 1] === '(') at = closingOf(text, at + 2, 0) - 1;
  }
  throw new Unreadable();
}

const reserved = new Set(
  'if then elif else fi while until do done for case esac { } ! time function [[ select'.split(' '),
);

interface Parser {
  list(depth: number, ends: readonly string[]): ScriptItem[];
  isAtEnd(): boolean;
}

// eslint-disable-next-line max-lines-per-function -- to be split: its parts share one state
function parserOf(tokens: readonly Token[]): Parser {
  let at = 0;
  const operator = (): string | undefined => {
    const token = tokens[at];
    return token?.kind === 'operator' ? token.text : undefined;
  };
  const keyword = (): string | undefined => {
    const token = tokens[at];
    if (token?.kind !== 'word' || token.word.isQuoted || token.word.isDynamic) return undefined;
    return reserved.has(token.word.text) ? token.word.text : undefined;
  };
  const skipLines = (): void => {
    while (operator() === '\n' || operator() === ';') at += 1;
  };
  const expect = (word: string): void => {
    skipLines();
    if (keyword() !== word && operator() !== word) throw new Unreadable();
    at += 1;
  };
  const takeWord = (): Word => {
    const token = tokens[at];
    if (token?.kind !== 'word') throw new Unreadable();
    at += 1;
    return token.word;
  };

  function list(depth: number, ends: readonly string[]): ScriptItem[] {
    if (depth > maxDepth) throw new Unreadable();
    const items: ScriptItem[] = [];
    for (skipLines(); at < tokens.length; skipLines()) {
      const next = keyword() ?? operator();
      if (next !== undefined && ends.includes(next)) break;
      const command = pipeline(depth);
      const after = operator();
      if (after === '&&' || after === '||') at += 1;
      if (after === '&') at += 1;
      items.push({ command, after: after === '&&' || after === '||' || after === '&' ? after : ';' });
      if (after === '&&' || after === '||') while (operator() === '\n') at += 1;
      else if (after !== undefined && ![';', '\n', '&', ...ends].includes(after)) throw new Unreadable();
    }
    const last = items.at(-1);
    if (last?.after === '&&' || last?.after === '||') throw new Unreadable();
    return last?.after === ';' ? [...items.slice(0, -1), { ...last, after: '' }] : items;
  }

  function pipeline(depth: number): Command {
    const word = keyword();
    if (word === '!' || word === 'time') {
      at += 1;
      return { kind: word === '!' ? 'not' : 'time', command: pipeline(depth) };
    }
    const parts = [command(depth)];
    while (operator() === '|' || operator() === '|&') {
      at += 1;
      while (operator() === '\n') at += 1;
      parts.push(command(depth));
    }
    const [only] = parts;
    return parts.length === 1 && only ? only : { kind: 'pipeline', parts };
  }

  function command(depth: number): Command {
    const word = keyword();
    if (word === undefined && operator() !== '(') return simple(depth);
    const compound = word === undefined ? subshell(depth) : compoundOf(word, depth);
    const hasRedirect = redirects();
    return 'hasRedirect' in compound ? { ...compound, hasRedirect } : compound;
  }

  function subshell(depth: number): Command {
    at += 1;
    if (operator() === '(') return arithmetic();
    const body = list(depth + 1, [')']);
    expect(')');
    return { kind: 'subshell', body, hasRedirect: false };
  }

  /** `((…))` of bash computes: it starts no program. */
  function arithmetic(): Command {
    for (let open = 1; open > 0; at += 1) {
      if (at >= tokens.length) throw new Unreadable();
      open += operator() === '(' ? 1 : operator() === ')' ? -1 : 0;
    }
    return builtin('true');
  }

  function compoundOf(word: string, depth: number): Command {
    at += 1;
    if (word === '{') {
      const body = list(depth + 1, ['}']);
      expect('}');
      return { kind: 'brace', body, hasRedirect: false };
    }
    if (word === 'if') return ifOf(depth);
    if (word === 'while' || word === 'until') {
      const condition = list(depth + 1, ['do']);
      return { kind: 'while', condition, body: loopBody(depth), hasRedirect: false };
    }
    if (word === 'for' || word === 'select') {
      while (at < tokens.length && keyword() !== 'do') at += 1;
      return { kind: 'for', condition: [], body: loopBody(depth), hasRedirect: false };
    }
    if (word === 'case') return caseOf(depth);
    if (word === '[[') {
      while (at < tokens.length && !(tokens[at]?.kind === 'word' && takeWord().text === ']]')) {
        if (tokens[at]?.kind === 'operator') at += 1;
      }
      return builtin('[');
    }
    if (word === 'function') {
      const name = takeWord().text;
      return functionOf(name, depth);
    }
    throw new Unreadable();
  }

  function ifOf(depth: number): Command {
    const branches: ScriptItem[][] = [];
    let hasElse = false;
    for (let word = 'if'; word !== 'fi';) {
      const body = list(depth + 1, ['then', 'elif', 'else', 'fi']);
      if (word === 'then' || word === 'else') branches.push(body);
      word = keyword() ?? '';
      hasElse ||= word === 'else';
      if (!['then', 'elif', 'else', 'fi'].includes(word)) throw new Unreadable();
      at += 1;
    }
    return { kind: 'if', branches: hasElse ? branches : [...branches, []], hasRedirect: false };
  }

  function loopBody(depth: number): ScriptItem[] {
    expect('do');
    const body = list(depth + 1, ['done']);
    expect('done');
    return body;
  }

  function caseOf(depth: number): Command {
    takeWord();
    skipLines();
    if (takeWord().text !== 'in') throw new Unreadable();
    const branches: ScriptItem[][] = [];
    let hasDefault = false;
    for (skipLines(); keyword() !== 'esac'; skipLines()) {
      if (operator() === '(') at += 1;
      for (; operator() !== ')'; at += 1) {
        const token = tokens[at];
        if (token === undefined) throw new Unreadable();
        hasDefault ||= token.kind === 'word' && token.word.text === '*';
      }
      at += 1;
      branches.push(list(depth + 1, [';;', ';&', ';;&', 'esac']));
      if (operator()?.startsWith(';')) at += 1;
    }
    at += 1;
    return { kind: 'case', branches: hasDefault ? branches : [...branches, []], hasRedirect: false };
  }

  function functionOf(name: string, depth: number): Command {
    if (operator() === '(') {
      at += 1;
      expect(')');
    }
    skipLines();
    return { kind: 'function', name, body: command(depth + 1) };
  }

  /** Skips redirections, and says whether there was one. */
  function redirects(): boolean {
    let found = false;
    for (let text = operator(); text !== undefined && isRedirect(text); text = operator()) {
      at += 1;
      takeWord();
      found = true;
    }
    return found;
  }

  function simple(depth: number): Command {
    const [assignments, words]: [Word[], Word[]] = [[], []];
    let [hasRedirect, hasHereDoc] = [false, false];
    for (; at < tokens.length;) {
      const text = operator();
      if (text !== undefined && isRedirect(text)) {
        hasHereDoc ||= /<<-?$/.test(text);
        hasRedirect = redirects() || hasRedirect;
      } else if (text === '(' && words.length === 1 && assignments.length === 0) {
        return functionOf(words[0]?.text ?? '', depth);
      } else if (text !== undefined) break;
      else {
        const word = takeWord();
        const isAssignment = words.length === 0 && /^[A-Za-z_]\w*\+?=/.test(word.text);
        if (isAssignment && /=$/.test(word.text) && operator() === '(') throw new Unreadable();
        (isAssignment ? assignments : words).push(word);
      }
    }
    if (assignments.length + words.length === 0 && !hasRedirect) throw new Unreadable();
    return { kind: 'simple', assignments, words, hasRedirect, hasHereDoc };
  }

  return { list, isAtEnd: () => at >= tokens.length };
}

const builtin = (text: string): Command => ({
  kind: 'simple',
  assignments: [],
  words: [{ text, isDynamic: false, isQuoted: false }],
  hasRedirect: false,
  hasHereDoc: false,
});
