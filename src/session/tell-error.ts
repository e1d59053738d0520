/** How a run that could not do its work says so: a sentence and a hint on stderr, a document where scripts read. */
import { PodexitError } from '../errors.ts';
import { renderErrorJson } from '../render/error-document.ts';
import { forTerminal } from '../render/safe-text.ts';
import type { Ports } from './ports.ts';

/** The exit code. `asDocument`: stdout speaks JSON, so the error does too. */
export function tellError(error: unknown, asDocument: boolean, { stdout, stderr }: Ports): number {
  if (!(error instanceof PodexitError)) {
    if (asDocument) stdout.write(renderErrorJson(unexpected(error)));
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(`podexit: unexpected error, please report it\n${told}\n`);
    return 1;
  }
  if (asDocument) stdout.write(renderErrorJson(error));
  const hint = error.hint.split('\n').map((line) => `${forTerminal(line, 2000)}\n`);
  stderr.write(`error: ${forTerminal(error.message, 2000)}\n${error.hint === '' ? '' : hint.join('')}`);
  return error.exitCode;
}

const unexpected = (error: unknown): PodexitError =>
  new PodexitError(
    'unexpected',
    `unexpected error: ${error instanceof Error ? error.message : String(error)}`,
    'Please report it, with what stderr says.',
  );
