/** kubectl's verbs, typed out of habit: read as podexit's own, or refused with the command that does it. Pure. */
import { PodexitError } from '../errors.ts';
import { nodeTypes, typeOf } from './target.ts';
import { usageError } from './usage.ts';
import { shellQuoted } from './words.ts';

/** The command line in podexit's own words. Throws usageError `verb` for what podexit does not do. */
export function withoutVerb(argv: readonly string[]): readonly string[] {
  const [verb, ...words] = argv;
  if (verb === 'delete') return deleted(words);
  if (verb === 'evict') return words.length > 0 ? [...words, '--evict'] : argv;
  return rolledOut(words) ?? argv;
}

/** The error about the command line, or the one that names the command which does what its verb means. */
export function withVerbHint(error: unknown, [verb = '', ...words]: readonly string[]): unknown {
  const isAboutWords = error instanceof PodexitError && misreadAs.has(error.code);
  if (!isAboutWords || !Object.hasOwn(hints, verb)) return error;
  return notDone(verb, hints[verb]?.(words) ?? '');
}

/** What a verb is taken for: a pod's name, or something with an unknown flag. */
const misreadAs: ReadonlySet<string> = new Set(['usage.target', 'usage.flags', 'usage.command', 'pod.not-found']);

/** `delete POD…` and `delete pod POD…` are what podexit does anyway. */
function deleted(words: readonly string[]): readonly string[] {
  if (words.some((word) => /^(?:-f|-k|--filename|--kustomize)(?:=|$)/.test(word)))
    throw notDone('delete -f', 'Predict it with: kubectl podexit check -f FILE; delete a pod of it by its name');
  const [type = '', name = 'NAME'] = operandsOf(words).flatMap((word) => word.split('/'));
  const resource = nodeTypes.includes(type) ? 'nodes' : typeOf(type);
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
  if (verb === 'undo')
    throw notDone(
      'rollout undo',
      `Write: kubectl podexit rollout ${operands(words)} -- kubectl rollout undo ${shown(words)}`,
    );
  if (!['history', 'pause', 'resume'].includes(verb)) return undefined;
  throw notDone(`rollout ${verb}`, `Write: kubectl rollout ${shown([verb, ...words])}`);
}

const asKubectl = (verb: string) => (words: readonly string[]) => `Write: kubectl ${shown([verb, ...words])}`;

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
      .map((verb) => [verb, asKubectl(verb)]),
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
