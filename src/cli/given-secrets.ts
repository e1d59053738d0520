/** Credentials that stand on the command line are repeated by no error, whichever word it is about. */
import { PodexitError } from '../errors.ts';

/** Also written wrongly: `--tokenVALUE`, `--token:VALUE`, `-token=VALUE`, `--TOKEN VALUE`. */
const secretFlag = /^--?(?:token|password)/i;

/** The error without the values of --token and --password. */
export function withoutGivenSecrets(error: unknown, argv: readonly string[]): unknown {
  if (!(error instanceof PodexitError)) return error;
  const secrets = argv.flatMap((word, index) => valueOf(word, argv[index + 1]));
  const clean = (text: string): string => secrets.reduce((safe, one) => safe.replaceAll(one, '<redacted>'), text);
  const { code, message, hint, exitCode, cause } = error;
  return new PodexitError(code, clean(message), clean(hint), { exitCode, cause });
}

/** Nothing, or the value; one of a few letters is no credential, and would garble the sentence. */
function valueOf(word: string, next = ''): string[] {
  const [flag] = secretFlag.exec(word) ?? [];
  if (flag === undefined) return [];
  const rest = word.slice(flag.length);
  const value = rest === '' ? next : rest.replace(/^[=:]/, '');
  return value.length < 4 ? [] : [value];
}
