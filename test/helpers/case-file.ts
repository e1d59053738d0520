/** Tables of cases that are written down as text, beside the test that reads them. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/**
 * Each sentence of a YAML file with its case, for `it.each`. A case may have only these fields: a misspelt one would check
 * nothing. Without `fields`, the test checks all that a case has. Patterns are the text of a regular expression.
 */
export function casesIn<Case>(file: URL, fields?: readonly (keyof Case & string)[]): [string, Case][] {
  const cases = Object.entries(parse(readFileSync(file, 'utf8')) as Record<string, Case>);
  for (const [sentence, one] of fields ? cases : [])
    for (const field of Object.keys(one as object))
      if (!(fields as readonly string[]).includes(field)) throw new Error(`${sentence}: a case has no ${field}`);
  return cases;
}

/** A pattern as text, or `/pattern/flags`. */
export function pattern(text: string): RegExp {
  const [, source = text, flags = ''] = /^\/([^]*)\/(\w+)$/.exec(text) ?? [];
  return new RegExp(source, flags);
}
