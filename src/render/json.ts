/**
 * `-o json`: the report itself, and under it and its like an error too (schema/error.schema.json), so that scripts parse one
 * stream. Read back, it is the document; looked at on a terminal, it is harmless.
 */
import type { ExitReport } from '../model/report.ts';
import { forJson } from './safe-text.ts';

/** Two spaces, the order of keys in which it was made, a final newline. */
export const renderJson = (report: ExitReport): string => `${jsonText(report, 2)}\n`;

/** JSON with no control, bidi or invisible character in it; one line without an indent. */
export const jsonText = (value: unknown, indent?: number): string => forJson(JSON.stringify(value, null, indent));

/** What an error document says; a PodexitError is one of these. */
export interface KnownError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** As schema/error.schema.json has it; like the report, only ever added to. */
export interface ErrorDocument extends KnownError {
  apiVersion: 'podexit/v1';
  kind: 'Error';
}

export const errorDocument = ({ code, message, hint }: KnownError): ErrorDocument => ({
  apiVersion: 'podexit/v1',
  kind: 'Error',
  code,
  message,
  hint,
});

export const renderErrorJson = (error: KnownError): string => `${jsonText(errorDocument(error), 2)}\n`;

/** The same as a line of an ndjson stream (docs/ndjson.md). */
export const renderErrorLine = (error: KnownError): string =>
  `${jsonText({ type: 'error', error: errorDocument(error) })}\n`;
