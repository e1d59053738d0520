/**
 * `-o jsonpath=TEMPLATE` and `-o jsonpath-as-json=TEMPLATE`, in kubectl's template language: text around `{path}`,
 * `{"text"}`, `{range path}…{end}`; and `-o custom-columns=HEADER:PATH,…`.
 */
import { JSONPath, type JSONPathOptions } from 'jsonpath-plus';
import { PodexitError } from '../../errors.ts';
import { columnsOf } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import { jsonText } from './json.ts';

/** `source`: as it is written in the template. `path`: for the library, from the report or from the current item. */
interface Path {
  readonly source: string;
  readonly from: 'root' | 'here';
  readonly path: string;
  /** Of a range: what is filled in for each result. */
  readonly body?: readonly TemplatePart[];
}

type TemplatePart = { readonly text: string } | Path;

/**
 * The filled-in template: strings as they are, objects as JSON, several results of one path separated by spaces, nothing
 * for a path that matches nothing. As in kubectl, only newlines of the template are printed.
 * Throws a PodexitError (`output.jsonpath`) that names the part which cannot be evaluated.
 */
export const renderJsonPath = (report: object, template: string): string =>
  resultsOf(readTemplate(template), report, report)
    .map((part) => (typeof part === 'string' ? part : part.map(print).join(' ')))
    .join('');

/** Every result of the template's paths as one JSON array, four spaces deep, with a final newline. */
export function renderJsonPathAsJson(report: object, template: string): string {
  const results = resultsOf(readTemplate(template), report, report).filter((part) => typeof part !== 'string');
  return `${jsonText(results.flat(), 4)}\n`;
}

/** A header, and a line for each row; like kubectl's, with `<none>` for a path that matches nothing. */
export function renderColumns(rows: readonly object[], template: string): string {
  const columns = readColumns(template);
  const cells = rows.map((row) => columns.map(({ path }) => evaluate(path, row, row).map(print).join(',') || '<none>'));
  return `${columnsOf([columns.map(({ header }) => header), ...cells]).join('\n')}\n`;
}

/** Throws like `readTemplate`. A path may have braces, and needs no dot at its start. */
export function readColumns(template: string): { header: string; path: Path }[] {
  return template.split(',').map((column) => {
    const [, header, path] = /^([^:]+):(.+)$/s.exec(column) ?? [];
    if (header === undefined || path === undefined)
      throw badTemplate(column, 'a column is HEADER:PATH, such as POD:.pod.name');
    const bare = path.replace(/^\{(.*)\}$/s, '$1');
    return { header, path: parsePath(column, /^[.[$@]/.test(bare) ? bare : `.${bare}`) };
  });
}

/** The text of each part, or the results of its path; a range has those of its body for each result. */
const resultsOf = (parts: readonly TemplatePart[], root: unknown, here: unknown): (string | unknown[])[] =>
  parts.flatMap((part) => {
    if ('text' in part) return part.text;
    const { body } = part;
    const results = evaluate(part, root, here);
    return body ? results.flatMap((item) => resultsOf(body, root, item)) : [results];
  });

function evaluate({ source, from, path }: Path, root: unknown, here: unknown): unknown[] {
  const json = from === 'root' ? root : here;
  if (typeof json !== 'object' || json === null) return path === '$' ? [json] : [];
  // `safe` interprets filters: no part of a template is ever compiled to code. As in kubectl, an item without the field
  // that a filter asks for does not match.
  return query(source, { path, json, wrap: true, eval: 'safe', ignoreEvalErrors: true }) ?? [];
}

function query(source: string, options: JSONPathOptions): unknown[] | undefined {
  try {
    return JSONPath<unknown[]>(options);
  } catch (error) {
    throw badTemplate(source, (error as Error).message);
  }
}

const print = (value: unknown): string => (typeof value === 'string' ? forTerminal(value, Infinity) : jsonText(value));

/** Parses a template and checks its filters, before anything is deleted. Throws `output.jsonpath`, naming the bad part. */
export function readTemplate(template: string): readonly TemplatePart[] {
  if (template === '') throw badTemplate(template, 'the template is empty');
  return takeParts([...template.matchAll(textOrAction)]);
}

/** Text, an action in braces (a brace inside quotes closes nothing), or at the end an action that is never closed. */
const textOrAction = /[^{]+|\{((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^}"'])*)\}|\{.*/gs;

const badTemplate = (part: string, why: string): PodexitError =>
  new PodexitError(
    'output.jsonpath',
    `The template cannot be used at ${JSON.stringify(part)}: ${why}.`,
    "Write it as kubectl has it, for example -o jsonpath='{.verdict.outcome}'.",
  );

/** Takes all parts from the front of `tokens`, or those of the range that `opener` begins. */
function takeParts(tokens: RegExpExecArray[], opener?: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  for (let token = tokens.shift(); token; token = tokens.shift()) {
    const [source, action] = token;
    const body = action?.trim();
    if (body === 'end' && opener !== undefined) return parts;
    if (body === 'end') throw badTemplate(source, 'there is no {range} that it could end');
    if (body === undefined && source.startsWith('{')) throw badTemplate(source, 'the brace is never closed');
    if (body === undefined) parts.push({ text: source });
    else if (/^["']/.test(body)) parts.push({ text: unquote(source, body) });
    else if (!/^range\s/.test(body)) parts.push(parsePath(source, body));
    else parts.push({ ...parsePath(source, body.slice(5).trim()), body: takeParts(tokens, source) });
  }
  if (opener !== undefined) throw badTemplate(opener, 'the range has no {end}');
  return parts;
}

/** `{.a}` starts at the current item, `{$.a}` at the report; `{@}` is the current item itself. */
function parsePath(source: string, body: string): Path {
  if (!/^[.[$@]/.test(body)) throw badTemplate(source, 'a path begins with a dot, $, @ or a bracket');
  if (!balanced(body)) throw badTemplate(source, 'its brackets do not match');
  const from = body.startsWith('$') ? 'root' : 'here';
  const steps = body.replace(/^[$@]/, '');
  if (steps !== '.' && /[^.]\.$|\.\.\./.test(steps)) throw badTemplate(source, 'a dot leads nowhere');
  // The library has no negative indexes, but slices; a single dot is the object itself.
  const path = `$${steps === '.' ? '' : steps}`.replace(/\[-(\d+)\]/g, (_all, index: string) =>
    Number(index) > 1 ? `[-${index}:-${Number(index) - 1}]` : '[-1:]',
  );
  for (const step of JSONPath.toPathArray(path)) assertStep(step, source);
  return { source, from, path };
}

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

function unquote(source: string, body: string): string {
  const quoted = /^(["'])((?:\\.|(?!\1)[^\\])*)\1$/s.exec(body);
  if (quoted === null) throw badTemplate(source, 'the text in it has no closing quote');
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '"': '"', "'": "'", '\\': '\\', '/': '/' };
  return (quoted[2] ?? '').replace(/\\(.)/gs, (_all, character: string) => {
    const unescaped = escapes[character];
    if (unescaped === undefined) throw badTemplate(source, `\\${character} means nothing in it`);
    return unescaped;
  });
}

/** Throws if the filter of a step can never be evaluated. */
function assertStep(step: string, source: string): void {
  if (step.startsWith('(')) throw badTemplate(source, 'an index is a number');
  if (step === '@other()') throw badTemplate(source, 'there is no type of this name');
  if (step.startsWith('?(')) query(source, { path: `$[${step}]`, json: [anyItem], eval: checkFilter });
}

/** Has every field, so that nested filters are checked too. */
const anyItem: object = new Proxy({}, { get: () => [anyItem] });

/** The part of an expression's syntax tree that is checked. */
interface Node {
  type: string;
  name?: string;
  computed?: boolean;
  property?: Node;
}

/** The library's own parser, which it does not export directly. */
const { Script } = (JSONPath as unknown as { prototype: { safeVm: { Script: new (code: string) => { ast: Node } } } })
  .prototype.safeVm;

/** Replaces the library's evaluator: matches nothing, and throws for what that rejects on every item, whatever its fields. */
const checkFilter = (code: string): void => assertNode(new Script(code).ast);

function assertNode(node: Node): void {
  const { type, name = '', computed, property, ...rest } = node;
  if (!evaluated.test(type)) throw new Error('its filter is not one comparison');
  if (type === 'Identifier' && !name.startsWith('_$_'))
    throw new Error(`"${name}" in it is neither a field nor quoted text`);
  if (['constructor', '__proto__'].includes(property?.name ?? ''))
    throw new Error(`"${property?.name}" in it is not a field`);
  // A name after a dot is a field, which needs no check.
  [...Object.values(rest), ...(computed ? [property] : [])].flat().filter(isNode).forEach(assertNode);
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const evaluated = /^(?:Identifier|Literal|(?:Binary|Logical|Conditional|Member|Unary|Array|Call)Expression)$/;
