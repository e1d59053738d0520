/** `-o json`: the report. An error is JSON too (schema/error.schema.json). The text is harmless on a terminal. */
import { PodexitError } from '../../errors.ts';
import { forJson, forTerminal, safeLines } from '../safe-text.ts';
import type { OutputPorts } from '../ports.ts';

/** Indented by two spaces, keys in the order of the object, with a final newline. */
export const renderJson = (report: object): string => `${jsonText(report, 2)}\n`;

/** JSON with no control, bidi or invisible character in it; one line without an indent. */
export const jsonText = (value: unknown, indent?: number): string => forJson(JSON.stringify(value, null, indent));

/** One document, or one line per item. */
type JsonFormat = 'document' | 'lines';
type KnownError = Pick<PodexitError, 'code' | 'message' | 'hint'>;

/**
 * An error as a document, or the same as a line of an ndjson stream (docs/ndjson.md). Described by
 * schema/error.schema.json; as in the report, fields are only ever added.
 */
export function renderError({ code, message, hint }: KnownError, format: JsonFormat): string {
  const error = { apiVersion: 'podexit/v1', kind: 'Error', code, message, hint };
  return format === 'document' ? renderJson(error) : `${jsonText({ type: 'error', error })}\n`;
}

/** Prints a sentence and a hint on stderr, and on stdout if that has JSON, in its `format`. Returns the exit code. */
export function reportError(thrown: unknown, format: JsonFormat | undefined, { stdout, stderr }: OutputPorts): number {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const hint = 'Please report it, with what stderr says.';
  const error =
    thrown instanceof PodexitError ? thrown : new PodexitError('unexpected', `unexpected error: ${text}`, hint);
  if (format) stdout.write(renderError(error, format));
  if (error !== thrown) {
    const stack = (thrown instanceof Error && thrown.stack) || text;
    stderr.write(`podexit: unexpected error, please report it\n${safeLines(stack)}\n`);
    return 1;
  }
  const lines = [error.message, ...(error.hint === '' ? [] : error.hint.split('\n'))];
  stderr.write(`error: ${lines.map((line) => `${forTerminal(line, 2000)}\n`).join('')}`);
  return error.exitCode;
}
