/** kubectl's JSONPath templates: text around `{path}`, `{"text"}`, `{range path}…{end}`. */
import { PodexitError } from '../errors.ts';

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly source: string; readonly from: 'root' | 'here'; readonly path: string }
  | {
      readonly kind: 'range';
      readonly source: string;
      readonly from: 'root' | 'here';
      readonly path: string;
      readonly body: readonly TemplatePart[];
    };

export type JsonPathTemplate = readonly TemplatePart[];

/** Parses a template, before anything is deleted. Throws a PodexitError (`output.jsonpath`) that names the bad part. */
export function parseJsonPath(template: string): JsonPathTemplate {
  if (template === '') throw badTemplate(template, 'the template is empty');
  const tokens = tokenize(template);
  const { parts, rest } = parseParts(tokens);
  if (rest.length > 0) throw badTemplate('{end}', 'there is no {range} that it could end');
  return parts;
}

export function badTemplate(part: string, why: string): PodexitError {
  return new PodexitError(
    'output.jsonpath',
    `The JSONPath template cannot be used at ${JSON.stringify(part)}: ${why}.`,
    "Write it as kubectl has it, for example -o jsonpath='{.verdict.outcome}'.",
  );
}

type Token = { kind: 'text'; text: string } | { kind: 'action'; source: string; body: string };

function tokenize(template: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < template.length) {
    const open = template.indexOf('{', position);
    const end = open < 0 ? template.length : open;
    if (end > position) tokens.push({ kind: 'text', text: template.slice(position, end) });
    if (open < 0) break;
    const close = closingBrace(template, open);
    if (close < 0) throw badTemplate(template.slice(open), 'the brace is never closed');
    const source = template.slice(open, close + 1);
    tokens.push({ kind: 'action', source, body: source.slice(1, -1).trim() });
    position = close + 1;
  }
  return tokens;
}

/** A brace inside quotes closes nothing. */
function closingBrace(template: string, open: number): number {
  let quote = '';
  for (let index = open + 1; index < template.length; index++) {
    const character = template[index] ?? '';
    if (quote !== '' && character === '\\') index++;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '}') return index;
  }
  return -1;
}

function parseParts(tokens: readonly Token[]): { parts: TemplatePart[]; rest: readonly Token[] } {
  const parts: TemplatePart[] = [];
  let rest = tokens;
  for (let token = rest[0]; token !== undefined; token = rest[0]) {
    if (token.kind === 'action' && token.body === 'end') break;
    rest = rest.slice(1);
    if (token.kind === 'text') {
      parts.push(token);
    } else if (/^range\s/.test(token.body)) {
      const inner = parseParts(rest);
      if (inner.rest.length === 0) throw badTemplate(token.source, 'the range has no {end}');
      parts.push({ kind: 'range', ...parsePath(token.source, token.body.slice(5).trim()), body: inner.parts });
      rest = inner.rest.slice(1);
    } else {
      parts.push(parseAction(token.source, token.body));
    }
  }
  return { parts, rest };
}

function parseAction(source: string, body: string): TemplatePart {
  if (body === '') throw badTemplate(source, 'there is nothing in it');
  if (/^["']/.test(body)) return { kind: 'text', text: unquote(source, body) };
  return { kind: 'path', ...parsePath(source, body) };
}

/** `{.a}` starts at the current item, `{$.a}` at the report; `{@}` is the current item itself. */
function parsePath(source: string, body: string): { source: string; from: 'root' | 'here'; path: string } {
  if (!/^[.[$@]/.test(body)) throw badTemplate(source, 'a path begins with a dot, $, @ or a bracket');
  if (!balanced(body)) throw badTemplate(source, 'its brackets do not match');
  const from = body.startsWith('$') ? 'root' : 'here';
  const steps = body.replace(/^[$@]/, '');
  if (steps !== '.' && /[^.]\.$|\.\.\./.test(steps)) throw badTemplate(source, 'a dot leads nowhere');
  // The library has no negative indexes, but slices; a single dot is the object itself.
  const path = `$${steps === '.' ? '' : steps}`.replace(/\[-(\d+)\]/g, (_all, index: string) => fromEnd(Number(index)));
  return { source, from, path };
}

const fromEnd = (index: number): string => (index <= 1 ? '[-1:]' : `[-${index}:-${index - 1}]`);

function balanced(body: string): boolean {
  const opened: string[] = [];
  for (const [mark] of body.matchAll(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[[\]()"']/g)) {
    if (mark === '[' || mark === '(') opened.push(mark);
    else if (mark === ']' && opened.pop() !== '[') return false;
    else if (mark === ')' && opened.pop() !== '(') return false;
    else if (mark === '"' || mark === "'") return false;
  }
  return opened.length === 0;
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '"': '"', "'": "'", '\\': '\\', '/': '/' };

function unquote(source: string, body: string): string {
  const quoted = /^(["'])((?:\\.|(?!\1)[^\\])*)\1$/s.exec(body);
  if (quoted === null) throw badTemplate(source, 'the text in it has no closing quote');
  return (quoted[2] ?? '').replace(/\\(.)/gs, (_all, character: string) => {
    const unescaped = escapes[character];
    if (unescaped === undefined) throw badTemplate(source, `\\${character} means nothing in it`);
    return unescaped;
  });
}
