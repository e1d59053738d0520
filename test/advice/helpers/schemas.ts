/** The schemas of the documents that these commands print, compiled as users compile them. */
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';

/** The problems of a document, one per line; empty if it is valid. */
export function faultsBy(name: string, document: unknown): string[] {
  const text = readFileSync(new URL(`../../../schema/${name}.schema.json`, import.meta.url), 'utf8');
  const validate = new Ajv2020({ allErrors: true, strict: true, strictRequired: false }).compile(
    JSON.parse(text) as object,
  );
  if (validate(document)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
}
