/** The filters of a template, `[?(@.name=="app")]`: read by the library that evaluates them, before anything is deleted. */
import { JSONPath } from 'jsonpath-plus';
import type { JsonPathTemplate } from './jsonpath-template.ts';
import { badTemplate } from './jsonpath-template.ts';

/** Throws a PodexitError (`output.jsonpath`) that names the path whose filter can never be evaluated. */
export function assertFilters(template: JsonPathTemplate): void {
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
    JSONPath({ path: `$[${step}]`, json: [anything], eval: Reading });
  } catch (error) {
    throw badTemplate(source, error instanceof Error ? error.message : 'it cannot be evaluated');
  }
}

/** Has every field, so that also a filter inside a filter is read. */
const anything: object = new Proxy({}, { get: () => [anything] });

/** The part of an expression's tree that is looked at. */
interface Node {
  type: string;
  name?: string;
  computed?: boolean;
  property?: Node;
}

/** The library's own parser, which it does not export by itself. */
const { Script } = (JSONPath as unknown as { prototype: { safeVm: { Script: new (code: string) => { ast: Node } } } })
  .prototype.safeVm;

/** Takes the place of the library's evaluator: reads each filter, and matches nothing. */
class Reading {
  constructor(code: string) {
    assertNode(new Script(code).ast);
  }

  runInNewContext(): string {
    return '';
  }
}

/** What the evaluator takes for an error on every item, whatever that holds. */
function assertNode(node: Node): void {
  const { type, name = '', computed, property, ...rest } = node;
  if (!evaluated.has(type)) throw new Error('its filter is not one comparison');
  if (type === 'Identifier' && !name.startsWith('_$_'))
    throw new Error(`"${name}" in it is no field and no quoted text`);
  if (blocked.has(property?.name ?? '')) throw new Error(`"${property?.name}" in it is no field`);
  // The name behind a dot is a field's, and stands for itself.
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
