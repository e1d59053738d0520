/** `-o jsonpath=TEMPLATE` and `-o jsonpath-as-json=TEMPLATE`, in kubectl's template language. */
import { JSONPath } from 'jsonpath-plus';
import { badTemplate, parseJsonPath, type JsonPathTemplate, type TemplatePart } from './jsonpath-template.ts';
import { forJson, forTerminal } from './safe-text.ts';

/**
 * The filled-in template: strings as they are, objects as JSON, several results of one path separated by spaces, nothing
 * for a path that matches nothing. As in kubectl, only newlines of the template are printed.
 * Throws a PodexitError (`output.jsonpath`) that names the part which cannot be evaluated.
 */
export function renderJsonPath(report: object, template: string): string {
  return fill(readTemplate(template), report, report);
}

/** Every result of the template's paths as one JSON array, four spaces deep, with a final newline. */
export function renderJsonPathAsJson(report: object, template: string): string {
  return `${forJson(JSON.stringify(collect(readTemplate(template), report, report), null, 4))}\n`;
}

/** Parses a template and checks its filters. Throws for every error that does not depend on the report. */
export function readTemplate(template: string): JsonPathTemplate {
  const parts = parseJsonPath(template);
  assertFilters(parts);
  return parts;
}

function fill(parts: readonly TemplatePart[], root: unknown, here: unknown): string {
  const texts = parts.map((part) => {
    if (part.kind === 'text') return part.text;
    const results = evaluate(part, root, here);
    if (part.kind === 'path') return results.map(print).join(' ');
    return results.map((item) => fill(part.body, root, item)).join('');
  });
  return texts.join('');
}

function collect(parts: readonly TemplatePart[], root: unknown, here: unknown): unknown[] {
  return parts.flatMap((part) => {
    if (part.kind === 'text') return [];
    const results = evaluate(part, root, here);
    return part.kind === 'path' ? results : results.flatMap((item) => collect(part.body, root, item));
  });
}

function evaluate(part: Exclude<TemplatePart, { kind: 'text' }>, root: unknown, here: unknown): unknown[] {
  const json = part.from === 'root' ? root : here;
  if (typeof json !== 'object' || json === null) return part.path === '$' ? [json] : [];
  try {
    // `safe` interprets filters: no part of a template is ever compiled to code. As in kubectl, an item without the field
    // that a filter asks for does not match.
    const options = { wrap: true, eval: 'safe', ignoreEvalErrors: true } as const;
    return JSONPath<unknown[]>({ path: part.path, json, ...options }) ?? [];
  } catch (error) {
    throw badTemplate(part.source, error instanceof Error ? error.message : 'it cannot be evaluated');
  }
}

function print(value: unknown): string {
  if (typeof value === 'string') return forTerminal(value, Infinity);
  return forJson(JSON.stringify(value));
}

/** Throws a PodexitError (`output.jsonpath`) that names the path whose filter can never be evaluated. */
function assertFilters(template: JsonPathTemplate): void {
  for (const part of template) {
    if (part.kind === 'text') continue;
    for (const step of JSONPath.toPathArray(part.path)) assertStep(step, part.source);
    if (part.kind === 'range') assertFilters(part.body);
  }
}

function assertStep(step: string, source: string): void {
  if (step.startsWith('(')) throw badTemplate(source, 'an index is a number');
  if (step === '@other()') throw badTemplate(source, 'there is no type of this name');
  if (!step.startsWith('?(')) return;
  try {
    JSONPath({ path: `$[${step}]`, json: [anyItem], eval: FilterCheck });
  } catch (error) {
    throw badTemplate(source, error instanceof Error ? error.message : 'it cannot be evaluated');
  }
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

/** Replaces the library's evaluator: checks each filter, and matches nothing. */
class FilterCheck {
  constructor(code: string) {
    assertNode(new Script(code).ast);
  }

  runInNewContext(): string {
    return '';
  }
}

/** Throws for what the evaluator rejects on every item, whatever its fields. */
function assertNode(node: Node): void {
  const { type, name = '', computed, property, ...rest } = node;
  if (!evaluated.has(type)) throw new Error('its filter is not one comparison');
  if (type === 'Identifier' && !name.startsWith('_$_'))
    throw new Error(`"${name}" in it is neither a field nor quoted text`);
  if (blocked.has(property?.name ?? '')) throw new Error(`"${property?.name}" in it is not a field`);
  // A name after a dot is a field, which needs no check.
  const below = [...Object.values(rest), ...(computed ? [property] : [])].flat();
  below.filter(isNode).forEach(assertNode);
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const evaluated = new Set([
  'BinaryExpression',
  'LogicalExpression',
  'ConditionalExpression',
  'Identifier',
  'Literal',
  'MemberExpression',
  'UnaryExpression',
  'ArrayExpression',
  'CallExpression',
]);

const blocked = new Set(['constructor', '__proto__']);
