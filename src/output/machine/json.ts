/** `-o json`: the report. An error is JSON too (schema/error.schema.json). The text is harmless on a terminal. */
import type { PodexitError } from '../../errors.ts';
import { forJson } from '../safe-text.ts';

/** Indented by two spaces, keys in the order of the object, with a final newline. */
export const renderJson = (report: object): string => `${jsonText(report, 2)}\n`;

/** JSON with no control, bidi or invisible character in it; one line without an indent. */
export const jsonText = (value: unknown, indent?: number): string => forJson(JSON.stringify(value, null, indent));

type KnownError = Pick<PodexitError, 'code' | 'message' | 'hint'>;

/** Described by schema/error.schema.json; as in the report, fields are only ever added. */
const errorDocument = ({ code, message, hint }: KnownError) =>
  ({ apiVersion: 'podexit/v1', kind: 'Error', code, message, hint }) as const;

/** The document, or the same as a line of an ndjson stream (docs/ndjson.md). */
export const renderError = (error: KnownError, format: 'document' | 'lines'): string =>
  format === 'document'
    ? renderJson(errorDocument(error))
    : `${jsonText({ type: 'error', error: errorDocument(error) })}\n`;
