/** Under `-o json` and its like an error is a document too (schema/error.schema.json), so that scripts parse one stream. */
import { jsonText } from './json.ts';
import { errorOrder } from './key-order.ts';

/** What an error document says; a PodexitError is one of these. */
export interface KnownError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** As schema/error.schema.json has it; like the report, only ever added to. */
export interface ErrorDocument {
  apiVersion: 'podexit/v1';
  kind: 'Error';
  code: string;
  message: string;
  hint: string;
}

export function errorDocument({ code, message, hint }: KnownError): ErrorDocument {
  return { apiVersion: 'podexit/v1', kind: 'Error', code, message, hint };
}

/** The error as a JSON document, in the report's manner. */
export function renderErrorJson(error: KnownError): string {
  return `${jsonText(errorDocument(error), errorOrder, 2)}\n`;
}

/** The same as a line of an ndjson stream (docs/ndjson.md). */
export const renderErrorLine = (error: KnownError): string =>
  `${jsonText({ type: 'error', error: errorDocument(error) }, { type: null, error: errorOrder })}\n`;
