/** The shipped JSON Schemas, compiled as users compile them. */
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';

export interface Schema {
  enum?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  $ref?: string;
  $defs?: Record<string, Schema>;
  required?: string[];
}

export const schemaOf = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(`../../schema/${name}.schema.json`, import.meta.url), 'utf8')) as Schema;

const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
for (const name of ['exit-report', 'error', 'ndjson', 'rollout-report']) ajv.addSchema(schemaOf(name));

/** The problems of a document, one per line; empty if it is valid. */
export function faultsBy(name: string, document: unknown): string[] {
  const validate = ajv.getSchema(`${name}.schema.json`) ?? ajv.compile(schemaOf(name));
  if (validate(document) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
}
