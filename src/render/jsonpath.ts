/** `-o jsonpath=TEMPLATE` and `-o jsonpath-as-json=TEMPLATE`, in kubectl's template language. */
import { JSONPath } from 'jsonpath-plus';
import type { ExitReport } from '../model/report.ts';
import { assertFilters } from './jsonpath-filter.ts';
import { inOrder, reportOrder } from './key-order.ts';
import type { JsonPathTemplate, TemplatePart } from './jsonpath-template.ts';
import { badTemplate, parseJsonPath } from './jsonpath-template.ts';
import { forJson, forTerminal } from './safe-text.ts';

/**
 * The template, filled in: strings as they are, objects as JSON, several results of one path with a space between
 * them, nothing for a path that leads nowhere. As with kubectl there is no newline that the template does not ask for.
 * Throws a PodexitError (`output.jsonpath`) that names the part which cannot be evaluated.
 */
export function renderJsonPath(report: ExitReport, template: JsonPathTemplate | string): string {
  const root = inOrder(report, reportOrder);
  return fill(parsed(template), root, root);
}

/** Every result of the template's paths as one JSON array, four spaces deep, with a final newline. */
export function renderJsonPathAsJson(report: ExitReport, template: JsonPathTemplate | string): string {
  const root = inOrder(report, reportOrder);
  return `${forJson(JSON.stringify(collect(parsed(template), root, root), null, 4))}\n`;
}

/** The template as it can be filled in. Throws what is wrong with it, filters included, whatever a report may hold. */
export function readTemplate(template: string): JsonPathTemplate {
  const parts = parseJsonPath(template);
  assertFilters(parts);
  return parts;
}

const parsed = (template: JsonPathTemplate | string): JsonPathTemplate =>
  typeof template === 'string' ? readTemplate(template) : template;

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
    // `safe` interprets filters; nothing that a template holds is ever compiled to code. An item without the field that
    // a filter asks for does not match, as with kubectl.
    const how = { wrap: true, eval: 'safe', ignoreEvalErrors: true } as const;
    return JSONPath<unknown[]>({ path: part.path, json, ...how }) ?? [];
  } catch (error) {
    throw badTemplate(part.source, error instanceof Error ? error.message : 'it cannot be evaluated');
  }
}

function print(value: unknown): string {
  if (typeof value === 'string') return forTerminal(value, Infinity);
  return forJson(JSON.stringify(value));
}
