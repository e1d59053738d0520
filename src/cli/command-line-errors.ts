/** Errors about the words of a command line, with what was probably meant: a command, a flag, or one of kubectl's verbs. */
import { Command, CommanderError } from 'commander';
import { PodexitError } from '../errors.ts';
import { seeHelp, usageError } from './usage.ts';
import { typeOf } from './target.ts';
import { shellQuoted } from './words.ts';

/** What `program` threw, with the best hint. It has only the commands of its command line, and `commands` are all that there are. */
export function withBestHint(error: unknown, program: Command, commands: readonly string[]): unknown {
  const known = error instanceof CommanderError ? flagError(error, program) : error;
  if (!(known instanceof PodexitError)) return known;
  const { code, message, exitCode, cause } = known;
  return new PodexitError(code, message, bestHint(known, program, commands), { exitCode, cause });
}

function bestHint({ code, hint }: PodexitError, program: Command, commands: readonly string[]): string {
  const command = namedCommand(program);
  // The program's own help has the flags of another command.
  if (command) return hint === seeHelp ? `See: kubectl podexit ${command.name()} --help` : hint;
  const [word] = program.args;
  // A mistyped command looks like the name of a pod.
  if (word === undefined || !['usage.target', 'pod.not-found'].includes(code)) return hint;
  const isRecording = word.endsWith('.ndjson');
  if (isRecording || /\.(ya?ml|json)$/.test(word))
    return `To read a file: kubectl podexit ${isRecording ? 'replay FILE' : 'check -f FILE'}`;
  if (word.includes('/')) return hint;
  const complaint = complaintAbout(word, (asked) => commands.forEach((name) => asked.command(name)));
  const meant = /\(Did you mean (?:one of )?([a-z]+)/.exec(complaint ?? '')?.[1];
  return meant === undefined ? hint : `Did you mean the command "${meant}"? ${hint}`;
}

/** Names only the flag, since its value may be a credential. */
function flagError({ code, message }: CommanderError, program: Command): PodexitError {
  if (code !== 'commander.unknownOption') return usageError('flags', plain(message));
  const word = /unknown option '([^]*)'/.exec(message)?.[1] ?? '';
  const name = word.startsWith('--') ? word.replace(/=[^]*$/, '') : word.slice(0, 2);
  const { options } = namedCommand(program) ?? program;
  const complaint = complaintAbout(name, (asked) => options.forEach((option) => asked.addOption(option)));
  const [, hint] = flagHints.find(([flags]) => flags.split(', ').includes(name)) ?? [];
  return usageError('flags', complaint ? plain(complaint) : `option '${name}' takes no value but true or false`, hint);
}

/** What to do instead, for flags that other commands of kubectl and stern have. */
const flagHints: readonly (readonly [flags: string, hint: string])[] = [
  ['-A, --all-namespaces', 'Name one namespace with -n. Exits of all of them: kubectl podexit watch -A'],
  ['--all', 'Name the pods, their workload as TYPE/NAME, or -l SELECTOR.'],
  ['-f, --filename', 'What is in a file is predicted by: kubectl podexit check -f FILE'],
  ['--tail, --since, --previous', 'podexit follows the logs of the pod by itself; to read them: kubectl logs POD'],
  ['--for', 'To wait for a deletion: kubectl podexit POD --attach'],
];

const namedCommand = ({ args: [first], commands }: Command): Command | undefined =>
  commands.find((command) => command.name() === first);

/** Commander's own words about this word, with what was probably meant; undefined if it accepts what `add` adds. */
function complaintAbout(word: string, add: (asked: Command) => void): string | undefined {
  const asked = new Command().exitOverride().helpOption(false);
  add(asked.configureOutput({ writeErr: () => {} }));
  try {
    asked.parse([word], { from: 'user' });
    return undefined;
  } catch (error) {
    return (error as CommanderError).message;
  }
}

/** Commander's message without its prefix, in one line. */
const plain = (message: string): string => message.replace(/^error: /, '').replace(/\n/g, ' ');

/** kubectl's verbs, typed out of habit, in podexit's own words. Throws usageError `verb` for what podexit does not do. */
export function withoutVerb(argv: readonly string[]): readonly string[] {
  const [verb, ...words] = argv;
  if (verb === 'delete') return deleted(words);
  if (verb === 'evict') return words.length > 0 ? [...words, '--evict'] : argv;
  return rolledOut(words) ?? argv;
}

/** The error about the command line, or the one that names the command which does what its verb means. */
export function withVerbHint(error: unknown, [verb = '', ...words]: readonly string[]): unknown {
  // What a verb is taken for: a pod's name, or something with an unknown flag.
  const misreadAs = ['usage.target', 'usage.flags', 'usage.command', 'pod.not-found'];
  if (!(error instanceof PodexitError && misreadAs.includes(error.code)) || !Object.hasOwn(hints, verb)) return error;
  return notDone(verb, hints[verb]?.(words) ?? '');
}

/** `delete POD…` and `delete pod POD…` are what podexit does anyway. */
function deleted(words: readonly string[]): readonly string[] {
  if (words.some((word) => /^(?:-f|-k|--filename|--kustomize)(?:=|$)/.test(word)))
    throw notDone('delete -f', 'Predict it with: kubectl podexit check -f FILE; delete a pod of it by its name');
  const [type = '', name = 'NAME'] = operandsOf(words).flatMap((word) => word.split('/'));
  const resource = typeOf(type);
  if (resource === undefined || resource === 'pods') return words;
  throw usageError(
    'verb',
    `"delete ${type}" means the ${type} itself, which podexit does not delete`,
    resource === 'nodes'
      ? `Its pods: kubectl podexit node/${name} -- kubectl drain ${name}`
      : `One of its pods: kubectl podexit ${type}/${name}; all of them: kubectl podexit ${type}/${name} --all-terminating, and kubectl delete ${type} ${name} beside it`,
  );
}

/** `rollout restart` and `rollout status` are `podexit rollout`; undefined for podexit's own words. */
function rolledOut([verb = '', ...words]: readonly string[]): readonly string[] | undefined {
  if (verb === 'restart') return ['rollout', ...words, '--restart'];
  if (verb === 'status') return ['rollout', ...words];
  const undo = `Write: kubectl podexit rollout ${operands(words)} -- kubectl rollout undo ${shown(words)}`;
  if (verb === 'undo') throw notDone('rollout undo', undo);
  if (!['history', 'pause', 'resume'].includes(verb)) return undefined;
  throw notDone(`rollout ${verb}`, `Write: kubectl rollout ${shown([verb, ...words])}`);
}

/** What does what a verb means. Only words that podexit has no command for. */
const hints: Readonly<Record<string, (words: readonly string[]) => string>> = {
  drain: (words) => `Write: kubectl podexit node/${operands(words)} -- kubectl drain ${shown(words)}`,
  scale: (words) =>
    `Write: kubectl podexit rollout ${operands(words)} -- kubectl scale ${operands(words)} --replicas=N`,
  apply: () => 'Write: kubectl podexit rollout TYPE/NAME -- kubectl apply -f FILE',
  set: (words) => `Write: kubectl podexit rollout TYPE/NAME -- kubectl set ${shown(words)}`,
  wait: (words) => `Write: kubectl podexit ${operands(words)} --attach`,
  ...Object.fromEntries(
    ['get', 'describe', 'logs', 'events', 'exec', 'debug', 'edit', 'patch', 'create', 'cp', 'config']
      .concat(['cordon', 'uncordon', 'run', 'label', 'annotate', 'replace', 'api-resources', 'cluster-info'])
      .map((verb) => [verb, (words: readonly string[]) => `Write: kubectl ${shown([verb, ...words])}`]),
  ),
};

function notDone(verb: string, hint: string): PodexitError {
  const pod = verb.includes(' ') ? '' : `; a pod of that name is written pod/${verb}`;
  return usageError('verb', `podexit has no "${verb}"${pod}`, hint);
}

/** The words before the first flag: after it a word may be a flag's value. */
function operandsOf(words: readonly string[]): readonly string[] {
  const flag = words.findIndex((word) => word.startsWith('-'));
  return flag < 0 ? words : words.slice(0, flag);
}

const operands = (words: readonly string[]): string => shellQuoted(operandsOf(words)) || 'NAME';

/** For a suggested command. Flags may hold credentials, and are not repeated. */
const shown = (words: readonly string[]): string =>
  `${operands(words)}${operandsOf(words).length < words.length ? ' …' : ''}`;

/** Read from argv itself, since the error may be about the flags. */
export function stdoutFormatOf(argv: readonly string[]): 'document' | 'lines' | undefined {
  const asked = argv.flatMap((word, index) => {
    const match = /^(?:-o|--output)=?(.*)$/s.exec(word);
    return match === null ? [] : [match[1] || (argv[index + 1] ?? '')];
  });
  if (asked.includes('ndjson')) return 'lines';
  return asked.some((format) => /^json(?:path-as-json=.+)?$/s.test(format)) ? 'document' : undefined;
}

/** The error without the values of --token and --password. */
export function withoutGivenSecrets(error: unknown, argv: readonly string[]): unknown {
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
  const value = word.slice(flag.length).replace(/^[=:]/, '') || next;
  return value.length < 4 ? [] : [value];
}
