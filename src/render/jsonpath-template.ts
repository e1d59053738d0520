/** kubectl's JSONPath templates: text around `{path}`, `{"text"}`, `{range path}…{end}`. */
import { PodexitError } from '../errors.ts';

/** `source`: as it is written in the template. `path`: for the library, from the report or from the current item. */
interface Path {
  readonly source: string;
  readonly from: 'root' | 'here';
  readonly path: string;
}

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | ({ readonly kind: 'path' } & Path)
  | ({ readonly kind: 'range'; readonly body: JsonPathTemplate } & Path);

export type JsonPathTemplate = readonly TemplatePart[];

/** Parses a template, before anything is deleted. Throws a PodexitError (`output.jsonpath`) that names the bad part. */
export function parseJsonPath(template: string): JsonPathTemplate {
  if (template === '') throw badTemplate(template, 'the template is empty');
  const tokens = Array.from(template.matchAll(textOrAction), ([source, body]) => ({ source, body: body?.trim() }));
  const last = tokens.at(-1);
  if (last?.body === undefined && last?.source.startsWith('{'))
    throw badTemplate(last.source, 'the brace is never closed');
  const parts = takeParts(tokens);
  if (tokens.length > 0) throw badTemplate('{end}', 'there is no {range} that it could end');
  return parts;
}

/** `body`: what is in the braces of an action; undefined for text. */
interface Token {
  readonly source: string;
  readonly body: string | undefined;
}

/** Text, an action in braces (a brace inside quotes closes nothing), or at the end an action that is never closed. */
const textOrAction = /[^{]+|\{((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^}"'])*)\}|\{.*/gs;

export function badTemplate(part: string, why: string): PodexitError {
  return new PodexitError(
    'output.jsonpath',
    `The JSONPath template cannot be used at ${JSON.stringify(part)}: ${why}.`,
    "Write it as kubectl has it, for example -o jsonpath='{.verdict.outcome}'.",
  );
}

/** Takes the parts before the next `{end}` from the front of `tokens`. */
function takeParts(tokens: Token[]): TemplatePart[] {
  const parts: TemplatePart[] = [];
  for (let token = tokens[0]; token && token.body !== 'end'; token = tokens[0]) {
    tokens.shift();
    const { source, body } = token;
    if (body === undefined) parts.push({ kind: 'text', text: source });
    else if (/^range\s/.test(body)) parts.push(takeRange(source, body, tokens));
    else parts.push(parseAction(source, body));
  }
  return parts;
}

function takeRange(source: string, body: string, tokens: Token[]): TemplatePart {
  const parts = takeParts(tokens);
  if (!tokens.shift()) throw badTemplate(source, 'the range has no {end}');
  return { kind: 'range', ...parsePath(source, body.slice(5).trim()), body: parts };
}

function parseAction(source: string, body: string): TemplatePart {
  if (body === '') throw badTemplate(source, 'there is nothing in it');
  if (/^["']/.test(body)) return { kind: 'text', text: unquote(source, body) };
  return { kind: 'path', ...parsePath(source, body) };
}

/** `{.a}` starts at the current item, `{$.a}` at the report; `{@}` is the current item itself. */
function parsePath(source: string, body: string): Path {
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
