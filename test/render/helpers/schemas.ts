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

const read = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(`../../../schema/${name}.schema.json`, import.meta.url), 'utf8')) as Schema;

export const schemas = {
  report: read('exit-report'),
  error: read('error'),
  ndjson: read('ndjson'),
  rollout: read('rollout-report'),
};

const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
ajv.addSchema(schemas.report).addSchema(schemas.error).addSchema(schemas.ndjson).addSchema(schemas.rollout);

/** The problems of a document, one per line; empty if it is valid. */
export function faults(name: keyof typeof schemas, document: unknown): string[] {
  const file = { report: 'exit-report', error: 'error', ndjson: 'ndjson', rollout: 'rollout-report' }[name];
  const validate = ajv.getSchema(`${file}.schema.json`)!;
  if (validate(document) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
}
