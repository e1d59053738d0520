/**
 * Completion. `__complete WORDS…`, for shells and kubectl: prints one candidate a line, then cobra's directive. Never fails.
 * The scripts of `completion` pass the words to `kubectl-podexit __complete` and show the answer.
 */
import type { Command, Option } from 'commander';
import { formatNames, type Printed } from '../output/formats.ts';
import type { NamedResource } from '../run/choosing/known-names.ts';
import type { Ports } from '../run/ports.ts';
import { gateCodes } from '../verdict/policy.ts';
import { newCommand, type AddCommand } from './command.ts';
import type { Flags } from './flags.ts';
import { connectionOf } from './options.ts';
import { typeNames, typeOf } from './target.ts';
import { flagValues, valuesByCommand, oneOf } from './usage.ts';
import { commandFirst, withoutValue, wordsForCommander } from './words.ts';

/** cobra's ShellCompDirective: the shell completes files by itself, or it does not. */
const directives = { files: ':0', nothing: ':4' } as const;

/** `program`: the whole tree of commands. */
export async function complete(argv: readonly string[], program: Command, ports: Ports): Promise<number> {
  const current = argv.at(-1) ?? '';
  const words = commandFirst(argv.slice(0, -1), program);
  const stop = new AbortController();
  // A completion should take a second at most, and starting two processes takes a part of it.
  const cancel = ports.clock.setTimeout(() => stop.abort(), 800);
  const timeout = new Promise<Candidate[]>((resolve) => stop.signal.addEventListener('abort', () => resolve([])));
  const command = program.commands.find((candidate) => candidate.name() === words[0]) ?? program;
  const flags = flagsIn(words, { command, program });
  const names: AskNames = (what, before = '') =>
    Promise.race([namesOf(what, before, flags, ports, stop.signal).catch(() => []), timeout]);
  const offer = await offerAt(words, current, { command, program, names }).catch((): Offer => []);
  const timedOut = stop.signal.aborted;
  cancel();
  stop.abort();
  // Words that a shell takes without quotes, as it does all names in Kubernetes.
  const lines = (offer === 'files' ? [] : offer)
    .filter(({ word }) => word.startsWith(current) && /^[\w./:=@+,-]+$/.test(word))
    .map(({ word, about }) => (about === undefined ? word : `${word}\t${about.replace(/[^\x20-\x7e]+/g, ' ')}`));
  ports.stdout.write(`${[...lines, offer === 'files' ? directives.files : directives.nothing].join('\n')}\n`);
  // A credential plugin that is still running would keep the shell waiting.
  if (timedOut) ports.leave(0);
  return 0;
}

async function namesOf(what: Named, before: string, flags: Flags, ports: Ports, signal: AbortSignal) {
  const { namesInCluster, namesInKubeconfig } = await import('../run/choosing/known-names.ts');
  const connection = connectionOf(flags, ports.version);
  // A completion cannot answer a prompt, so it must not show one.
  const quiet = { ...ports, stdinIsTty: false, stderr: { ...ports.stderr, write: () => {} } };
  const names =
    what === 'contexts' || what === 'clusters' || what === 'users'
      ? await namesInKubeconfig(what, connection, quiet)
      : await namesInCluster(what, connection, quiet, signal);
  return names.map(({ name, about }) => ({ word: before + name, about }));
}

async function topics(): Promise<Candidate[]> {
  const { pluralOf, topics: all, topicKinds } = await import('../verdict/explain.ts');
  return asCandidates([...new Set([...all.map(({ name }) => name), ...topicKinds.map(pluralOf), 'figures'])]);
}

/** The flags that were typed so far, even after a command; an incomplete flag does not count. */
function flagsIn(words: readonly string[], { command, program }: Omit<Place, 'names'>): Flags {
  try {
    command.parseOptions(wordsForCommander(words, program));
  } catch {
    // What was parsed until then is what we know.
  }
  return command.opts();
}

interface Candidate {
  word: string;
  about?: string;
}

const asCandidates = (words: readonly string[], before = ''): Candidate[] =>
  words.map((word) => ({ word: before + word }));

/** What the word under the cursor may be. */
type Offer = readonly Candidate[] | 'files';

type Named = NamedResource | 'contexts' | 'clusters' | 'users';
/** Names that only the cluster or the kubeconfig has; `before` is put in front of each (`deploy/`). */
type AskNames = (what: Named, before?: string) => Promise<Candidate[]>;
type Place = Readonly<{ command: Command; program: Command; names: AskNames }>;

/** `words`: those before the word under the cursor, which is `current`. */
async function offerAt(words: readonly string[], current: string, place: Place): Promise<Offer> {
  const { command } = place;
  const [, flag] = /^(--?[^=]+)=/s.exec(current) ?? [];
  if (flag !== undefined)
    return offerForFlag(place, optionNamed(command, flag), `${flag}=`, current.slice(flag.length + 1));
  const before = optionNamed(command, words.at(-1) ?? '');
  if (before?.required && !(`${before.long}` in withoutValue)) return offerForFlag(place, before, '', current);
  if (current.startsWith('-')) return flagsOf(command);
  return offerForArgument(place, positionals(words, command), current);
}

const optionNamed = (command: Command, name: string): Option | undefined =>
  command.options.find((option) => option.long === name || option.short === name);

const flagsOf = (command: Command): Candidate[] =>
  command.options.flatMap((option) =>
    option.long == null || option.hidden ? [] : [{ word: option.long, about: option.description }],
  );

const documentSubjects: readonly Printed[] = ['check', 'why', 'compare', 'recommend', 'signals', 'try'];

/** Values that are known without a cluster, by flag, or by command and flag where they differ. */
const values: Record<string, readonly string[]> = {
  ...Object.fromEntries(documentSubjects.map((name) => [`${name} --output`, formatNames(name)])),
  '--output': formatNames('trace'),
  '--fail-on': gateCodes,
  ...flagValues,
  ...valuesByCommand,
};

const named: Readonly<Record<string, Named>> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--cluster': 'clusters',
  '--user': 'users',
};

/** `before`: the part of the word before the value, which must be printed with it; `typed`: the value so far. */
function offerForFlag({ command, names }: Place, option: Option | undefined, before: string, typed: string) {
  const name = option?.long ?? '';
  const known = values[`${command.name()} ${name}`] ?? values[name];
  // Codes are separated by commas; those already typed are not offered again.
  const done = name === '--fail-on' ? typed.split(',').slice(0, -1) : [];
  const left = known?.filter((code) => !done.includes(code));
  if (left) return asCandidates(left, before + done.map((code) => `${code},`).join(''));
  const what = Object.hasOwn(named, name) ? named[name] : undefined;
  if (what) return names(what, before);
  return /<(file|folder)>/.test(option?.flags ?? '') ? 'files' : [];
}

/** The words that are neither flags nor their values, without the command's own name. */
function positionals(words: readonly string[], command: Command): string[] {
  const own = command.parent ? words.slice(1) : words;
  return own.filter((word, index) => !word.startsWith('-') && !optionNamed(command, own[index - 1] ?? '')?.required);
}

/** The arguments of the commands that take neither pods nor workloads. */
const commandArguments: Record<string, () => Offer | Promise<Offer>> = {
  replay: () => 'files',
  recommend: () => 'files',
  demo: async () =>
    (await import('../demo/scenarios.ts')).shippedScenarios.map(({ name, about }) => ({ word: name, about })),
  explain: topics,
  signals: async () => asCandidates((await import('../advice/signals-command.ts')).programNames()),
  completion: () => asCandidates(shells),
};

async function offerForArgument(place: Place, before: readonly string[], current: string): Promise<Offer> {
  const { command, program, names } = place;
  if (command.name() === 'options' && before.length === 0) return commandsOf(program);
  if (command.name() === 'compare') return before.length < 2 ? 'files' : [];
  const isTrace = command === program;
  const isRollout = command.name() === 'rollout';
  if (!isTrace && !isRollout && !['check', 'why', 'fix', 'try'].includes(command.name()))
    return (before.length === 0 ? commandArguments[command.name()]?.() : undefined) ?? [];
  // Only a trace takes a node.
  const resourceOf = (type: string): NamedResource | undefined =>
    isTrace || typeOf(type) !== 'nodes' ? typeOf(type) : undefined;
  const [type, slashed] = current.includes('/') ? current.split('/') : [];
  const [first, ...more] = before;
  // Only a trace takes several pods.
  const isNextPod = isTrace && before.every((word) => word.startsWith('pod/') || !word.includes('/'));
  if (type !== undefined && slashed !== undefined) {
    const of = first === undefined || (isNextPod && typeOf(type) === 'pods') ? resourceOf(type) : undefined;
    return of ? names(of, `${type}/`) : [];
  }
  const resource = first === undefined ? undefined : resourceOf(first);
  if (resource !== undefined && more.length === 0) return names(resource);
  if (first !== undefined) return isNextPod && (resource ?? 'pods') === 'pods' ? names('pods') : [];
  const kinds = typeNames.filter((name) => (name !== 'pod' || !isRollout) && (name !== 'node' || isTrace));
  const types = kinds.map((word) => ({ word, about: 'kind of the target' }));
  if (isRollout) return types;
  return [...(await names('pods')), ...(isTrace ? commandsOf(program) : []), ...types];
}

const commandsOf = (program: Command): Candidate[] =>
  program.commands.map((command) => ({ word: command.name(), about: command.description() }));

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

const bash = String.raw`# bash completion for kubectl-podexit
# source <(kubectl-podexit completion bash)
_kubectl_podexit() {
  local -a words=()
  local line="${'$'}{COMP_LINE:0:COMP_POINT}" current candidate directive=':4'
  read -ra words <<<"$line"
  [[ "$line" == *[[:space:]] ]] && words+=('')
  current="${'$'}{words[${'$'}{#words[@]}-1]}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [[ "$candidate" == :[0-9]* ]]; then directive="$candidate"; continue; fi
    candidate="${'$'}{candidate%%$'\t'*}"
    # bash itself breaks words at "=": only what comes after it is replaced.
    [[ "$current" == *=* ]] && candidate="${'$'}{candidate#"${'$'}{current%%=*}="}"
    COMPREPLY+=("$candidate")
  done < <("${'$'}{words[0]}" __complete "${'$'}{words[@]:1}" 2>/dev/null)
  [[ "$directive" == ':0' && ${'$'}{#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
  return 0
}
complete -F _kubectl_podexit kubectl-podexit
`;

const zsh = String.raw`#compdef kubectl-podexit
# zsh completion for kubectl-podexit
# source <(kubectl-podexit completion zsh)
_kubectl_podexit() {
  local -a lines candidates
  local line name about directive=':4'
  lines=("${'$'}{(@f)$(kubectl-podexit __complete "${'$'}{(@)words[2,$CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ "$line" == :[0-9]* ]]; then directive="$line"; continue; fi
    name="${'$'}{line%%$'\t'*}"
    about="${'$'}{line#*$'\t'}"
    [[ "$about" == "$line" ]] && about=''
    candidates+=("${'$'}{name//:/\\:}${'$'}{about:+:$about}")
  done
  if [[ "$directive" != ':0' ]]; then _describe -V 'podexit' candidates; return; fi
  # Behind "=" the file stands in the same word.
  [[ "${'$'}{words[CURRENT]}" == -*=* ]] && compset -P '*='
  _files
}
(( $+functions[compdef] )) && compdef _kubectl_podexit kubectl-podexit
`;

const fish = String.raw`# fish completion for kubectl-podexit
# kubectl-podexit completion fish | source
function __kubectl_podexit_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    kubectl-podexit __complete $words[2..-1] "$current" 2>/dev/null | string match -rv '^:\d+$'
end
function __kubectl_podexit_wants_files
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    kubectl-podexit __complete $words[2..-1] "$current" 2>/dev/null | string match -q ':0'
end
complete -c kubectl-podexit -f -a '(__kubectl_podexit_complete)'
complete -c kubectl-podexit -n __kubectl_podexit_wants_files -F
`;

/**
 * PowerShell before 7.3, or in Legacy mode, drops an empty argument unless it is written `""`. A word typed in quotes
 * is passed without them; a name that PowerShell would split comes back in quotes.
 */
const powershell = String.raw`# PowerShell completion for kubectl-podexit
# kubectl-podexit completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'kubectl-podexit', 'kubectl-podexit.exe' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object {
    if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
  })
  $drops = $PSVersionTable.PSVersion -lt [version]'7.3.0' -or $PSNativeCommandArgumentPassing -eq 'Legacy'
  if ($wordToComplete -eq '') { $words += $(if ($drops) { '""' } else { '' }) }
  & kubectl-podexit __complete @words 2>$null | Where-Object { $_ -notmatch '^:\d+$' } | ForEach-Object {
    $name, $about = $_ -split "${'`'}t", 2
    if (-not $about) { $about = $name }
    $text = if ($name -match '[^\w./:=+-]') { "'" + ($name -replace "'", "''") + "'" } else { $name }
    [System.Management.Automation.CompletionResult]::new($text, $name, 'ParameterValue', $about)
  }
}
`;

export const completionScripts: Record<(typeof shells)[number], string> = { bash, zsh, fish, powershell };

const examples = `Examples:
  source <(kubectl-podexit completion bash)
  kubectl-podexit completion fish | source
`;

export const addCompletion: AddCommand = (program, { stdout }) => {
  const about = `print the script for ${shells.join(', ')}`;
  newCommand(program, 'completion <shell>', about, examples).action((shell: string) =>
    stdout.write(completionScripts[oneOf(shell, shells, 'completion')]),
  );
};
