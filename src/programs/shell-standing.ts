/**
 * Where a shell stands once its script has started the application: it waits for a command or for its jobs, it became the
 * command (exec), or the script is over. This decides what a signal to the shell does.
 */
import type { Shell } from './rows.ts';
import type { Script, ShellCommand } from './shell-script.ts';
import type { Word } from './shell-words.ts';
import { signalOfExitCode } from './signals.ts';
import commandNames from './data/commands.json' with { type: 'json' };

/** One way in which the script may stand. */
export interface Standing {
  kind: 'became' | 'foreground' | 'wait' | 'over';
  /** The command that it became or waits for in the foreground. */
  words: readonly Word[];
  forms: ReadonlySet<string>;
  /** The last command in the background that is more than a sleep: for a shell that waits, the application. */
  job?: ShellCommand;
  /** What comes after the command or the `wait`: in a loop, the loop and what comes after it. */
  rest: readonly ShellCommand[];
  /** It is run again and again. */
  inLoop: boolean;
  /** Actions by signal name without SIG, and EXIT. An empty action ignores the signal. */
  traps: ReadonlyMap<string, string>;
  /** With `set -e`, a `wait` that a signal interrupts ends the script. */
  stopsOnError: boolean;
  functions: Script['functions'];
  /** Another command of the script could be the application instead. */
  isGuess: boolean;
}

type Place = Pick<Standing, 'kind' | 'words' | 'forms' | 'isGuess'> & {
  index: number;
  command: ShellCommand & { at: number };
};

const instant = new Set(commandNames.instant);
const waitForInput = new Set(commandNames.waitForInput);
const mostCommands = 2_000;

/** Several: a condition decides between them. Empty: not known. Sets the variables that the script sets. */
export function standingsOf(script: Script, shell: Shell, variables: Map<string, Word>): Standing[] {
  const commands = withCalls(script.commands, script.functions);
  if (commands.length > mostCommands) return [];
  const traps = new Map<string, string>();
  const jobs: ShellCommand[] = [];
  let places: Place[] = [];
  /** What an `if` waits for: only without anything else it is the application. */
  let tested: Place[] = [];
  let stopsOnError = false;
  for (const [index, command] of commands.entries()) {
    const { words, forms } = command;
    const isInChild =
      command.isJob ||
      forms.has('pipeline') ||
      (forms.has('subshell') && shell.handsOver?.includes('subshell') !== true);
    const [name = '', first = ''] = words.map(({ text }) => text);
    if (!isInChild) setVariables(command, variables);
    if (name === 'trap' && !isInChild) setTraps(words.slice(1), traps, shell.knowsSigPrefix !== false);
    stopsOnError ||= name === 'set' && /^-\w*e/.test(first);
    if (name === 'exit' && !command.isConditional && !isInChild) break;
    if (command.isJob && (!isInstant(words) || isWorkOfLoop(command))) jobs.push(command);
    const place = command.isJob ? undefined : placeOf(command, isInChild, jobs);
    if (place === undefined || isPassing(place, command, places)) continue;
    if (forms.has('if condition')) {
      tested = [{ ...place, index, command, isGuess: true }];
      continue;
    }
    const kept = places.filter((one) => one.kind === 'became' || areAlternatives(one.command, command));
    const replaced = places.filter((one) => !kept.includes(one) && one.kind === 'foreground');
    const isGuess = replaced.some((one) => one.command.at < (command.follows ?? Infinity));
    kept.push({ kind: place.kind, words: place.words, forms: place.forms, index, command, isGuess });
    places = kept;
    if (place.kind === 'became' && !command.isConditional) break;
  }
  const loops = new Set(commands.filter(({ forms }) => forms.has('while condition')).flatMap((one) => one.loops));
  const found = places.length > 0 ? places : tested;
  if (found.length === 0 && loops.size > 0) return [];
  const ways = found.length > 0 ? found : [over];
  return ways.map(({ kind, words, forms, index, command, isGuess }) => ({
    ...{ kind, words, forms, traps, stopsOnError, isGuess, functions: script.functions },
    job: jobs.findLast((one) => !isSleep(one.words)),
    rest: commands.slice(restOf(index, command, commands)),
    inLoop: command.loops.some((loop) => !endsWithJob(commands, loop)),
  }));
}

/** A loop in the background that does more than wait has work to lose. */
const isWorkOfLoop = ({ loops, words }: ShellCommand): boolean =>
  loops.length > 0 && /^(echo|printf)$/.test(words[0]?.text ?? '');

const none = { assignments: [], words: [], forms: new Set<string>(), isJob: false, at: 0 };
const nowhere = { ...none, branches: new Map<number, number>(), loops: [], isConditional: false };
const over: Place = { kind: 'over', words: [], forms: none.forms, index: 0, command: nowhere, isGuess: false };

/** The shell does not stand there: it is over by then, runs beside what was found before, or takes a moment. */
function isPassing(
  { kind, words }: Pick<Place, 'kind' | 'words'>,
  command: ShellCommand,
  places: readonly Place[],
): boolean {
  if (kind === 'became') return false;
  const isBrief = isSleep(words) && command.loops.length === 0 && /^[\d.]+[sm]?$/.test(words[1]?.text ?? '');
  return places.some(
    (one) => one.command.at >= (command.beside ?? Infinity) || (kind === one.kind && (kind === 'wait' || isBrief)),
  );
}

/** The index of what comes after the place: in a loop, that is the loop. */
const restOf = (index: number, { loops: [loop] }: ShellCommand, commands: readonly ShellCommand[]): number =>
  loop === undefined ? index + 1 : commands.findIndex(({ loops }) => loops.includes(loop));

/** The commands with those of the functions that they call. */
export function withCalls(
  commands: readonly ShellCommand[],
  functions: Script['functions'],
  within: ReadonlySet<string> = new Set(),
): readonly ShellCommand[] {
  if (functions.size === 0) return commands;
  return commands.flatMap((command) => {
    const name = command.words[0]?.text ?? '';
    const body = within.has(name) || within.size > maxCalls ? undefined : functions.get(name);
    if (body === undefined) return [command];
    return withCalls(body, functions, new Set([...within, name])).map((inner) => ({
      ...inner,
      forms: new Set([...command.forms, ...inner.forms, 'function']),
      isJob: command.isJob || inner.isJob,
      isConditional: command.isConditional || inner.isConditional,
      at: command.at,
      beside: command.beside,
      follows: command.follows,
    }));
  });
}

const maxCalls = 4;

function placeOf(
  command: ShellCommand,
  isInChild: boolean,
  jobs: readonly ShellCommand[],
): Pick<Place, 'kind' | 'words' | 'forms'> | undefined {
  const { words } = command;
  const [name = '', ...others] = words.map(({ text }) => text);
  const forms = new Set(command.forms);
  if (words[0]?.isDynamic) forms.add('dynamic');
  if (command.assignments.length > 0) forms.add('assignment');
  if (/^(command|builtin|eval)$/.test(name)) forms.add(name === 'eval' ? name : 'command');
  const exec = name === 'eval' && others[0]?.startsWith('exec ') ? splitWords(others[0]).slice(1) : undefined;
  if ((name === 'exec' && others.length > 0) || exec)
    return { kind: isInChild ? 'foreground' : 'became', words: exec ?? afterOptions(words.slice(1)), forms };
  if (name === 'wait') {
    const job = jobs.at(-1);
    return job && { kind: isInChild ? 'foreground' : 'wait', words: isInChild ? job.words : [], forms };
  }
  if (name === '.' || name === 'source' || name === 'exit' || name === 'exec') return undefined;
  const run = name === 'command' || name === 'builtin' || name === 'eval' ? afterOptions(words.slice(1)) : words;
  return isInstant(run) ? undefined : { kind: 'foreground', words: run, forms };
}

const isInstant = (words: readonly Word[]): boolean =>
  words[0] === undefined || (instant.has(words[0].text) && !(words.length === 1 && waitForInput.has(words[0].text)));

export const isSleep = (words: readonly Word[]): boolean => /(^|\/)sleep$/.test(words[0]?.text ?? '');

const areAlternatives = (one: ShellCommand, other: ShellCommand): boolean =>
  [...one.branches].some(([frame, branch]) => (other.branches.get(frame) ?? branch) !== branch);

/** A loop that asks whether a job still runs ends with it. */
const endsWithJob = (commands: readonly ShellCommand[], loop: number): boolean =>
  commands.some(
    ({ loops, forms, words }) => loops.includes(loop) && forms.has('while condition') && words[0]?.text === 'kill',
  );

const afterOptions = (words: readonly Word[]): readonly Word[] => {
  const from = words.findIndex(({ text }) => !text.startsWith('-'));
  return from === -1 ? [] : words.slice(words[from - 1]?.text === '-a' ? from + 1 : from);
};

const splitWords = (text: string): Word[] =>
  text.split(/\s+/).map((word) => ({ text: word, isDynamic: word.includes('$'), isQuoted: false }));

function setVariables({ assignments, words }: ShellCommand, variables: Map<string, Word>): void {
  const set = words.length === 0 ? assignments : words[0]?.text === 'export' ? words.slice(1) : [];
  for (const { text, isDynamic } of set) {
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
    if (isDynamic) variables.delete(name);
    else variables.set(name, { text: value, isDynamic: false, isQuoted: false });
  }
}

function setTraps(words: readonly Word[], traps: Map<string, string>, knowsSigPrefix: boolean): void {
  const [action, ...names] = words.filter(({ text }, index) => index > 0 || text !== '--');
  for (const { text } of names) {
    if (text.startsWith('SIG') && !knowsSigPrefix) continue;
    const signal =
      text === '0' ? 'EXIT' : (signalOfExitCode(128 + Number(text)) ?? text).replace(/^SIG/, '').toUpperCase();
    if (action?.text !== '-') traps.set(signal, action?.text.trim() ?? '');
    else if (traps.delete(signal)) traps.set('-', '');
  }
}
