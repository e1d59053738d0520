/** From argv to an exit code. */
import type { Ports } from '../run/ports.ts';
import type { StdoutFormat } from '../run/report-error.ts';
import { buildProgram, commandNames, runProgram } from './program.ts';
import { oneOf } from './usage.ts';
import { PodexitError } from '../errors.ts';

export async function main(argv: readonly string[], ports: Ports): Promise<number> {
  if (argv[0] === '__complete') {
    const { complete } = await import('./complete/complete.ts');
    return complete(argv.slice(1), await buildProgram(ports, () => {}), ports);
  }
  try {
    return await runProgram(await ownWords(argv), ports, main);
  } catch (error) {
    const { reportError } = await import('../run/report-error.ts');
    const { withVerbHint } = await import('./command-line-errors.ts');
    return reportError(withoutGivenSecrets(withVerbHint(error, argv), argv), stdoutFormatOf(argv), ports);
  }
}

/** For kubectl's words `help`, `version`, `delete` … A pod of such a name is written `pod/help`. Throws usageError. */
async function ownWords(argv: readonly string[]): Promise<readonly string[]> {
  const [first, ...more] = argv;
  if (first === 'help') {
    const [word = 'help'] = more;
    if (!word.startsWith('-')) oneOf(word, [...commandNames, 'help', 'version'], 'help');
    return [...more, '--help'];
  }
  if (first === 'version' && more.every((word) => word === '--client' || word === '--client=true'))
    return ['--version'];
  if (first !== 'delete' && first !== 'evict' && first !== 'rollout') return argv;
  return (await import('./command-line-errors.ts')).withoutVerb(argv);
}

/** Read from argv itself, since the error may be about the flags. */
function stdoutFormatOf(argv: readonly string[]): StdoutFormat {
  const asked = argv.flatMap((word, index) => {
    const match = /^(?:-o|--output)=?(.*)$/s.exec(word);
    return match === null ? [] : [match[1] || (argv[index + 1] ?? '')];
  });
  if (asked.includes('ndjson')) return 'lines';
  return asked.some((format) => /^json(?:path-as-json=.+)?$/s.test(format)) ? 'document' : undefined;
}

/** The error without the values of --token and --password. */
function withoutGivenSecrets(error: unknown, argv: readonly string[]): unknown {
  if (!(error instanceof PodexitError)) return error;
  const secrets = argv.flatMap((word, index) => valueOf(word, argv[index + 1]));
  const clean = (text: string): string => secrets.reduce((safe, secret) => safe.replaceAll(secret, '<redacted>'), text);
  const { code, message, hint, exitCode, cause } = error;
  return new PodexitError(code, clean(message), clean(hint), { exitCode, cause });
}

/** The value of a secret flag, if it is one. A short value is no credential, and would garble the sentence. */
function valueOf(word: string, next = ''): string[] {
  // Matches misspelled forms too: `--tokenVALUE`, `--token:VALUE`, `-token=VALUE`, `--TOKEN VALUE`.
  const [flag] = /^--?(?:token|password)/i.exec(word) ?? [];
  if (flag === undefined) return [];
  const rest = word.slice(flag.length);
  const value = rest === '' ? next : rest.replace(/^[=:]/, '');
  return value.length < 4 ? [] : [value];
}
