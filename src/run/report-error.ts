/** Reports an error: a sentence and a hint on stderr, and a JSON document on stdout if scripts read it. */
import { PodexitError } from '../errors.ts';
import { renderError } from '../output/machine/json.ts';
import { forTerminal, safeLines } from '../output/safe-text.ts';
import type { Ports } from './ports.ts';

/** The JSON format of stdout: one document, or one line per item; undefined: stdout is for people. */
export type StdoutFormat = 'document' | 'lines' | undefined;

/** Returns the exit code. If stdout has JSON, the error is printed there too. */
export function reportError(error: unknown, format: StdoutFormat, { stdout, stderr }: Ports): number {
  if (!(error instanceof PodexitError)) {
    const what = `unexpected error: ${error instanceof Error ? error.message : String(error)}`;
    stdout.write(asJson(new PodexitError('unexpected', what, 'Please report it, with what stderr says.'), format));
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(`podexit: unexpected error, please report it\n${safeLines(text)}\n`);
    return 1;
  }
  stdout.write(asJson(error, format));
  const hint = error.hint.split('\n').map((line) => `${forTerminal(line, 2000)}\n`);
  stderr.write(`error: ${forTerminal(error.message, 2000)}\n${error.hint === '' ? '' : hint.join('')}`);
  return error.exitCode;
}

const asJson = (error: PodexitError, format: StdoutFormat): string => (format ? renderError(error, format) : '');
