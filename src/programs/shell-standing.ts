/**
 * Where a shell stands once its script has started the application: it waits for a command or for its jobs, it became the
 * command (exec), or the script is over. This decides what a signal to the shell does.
 */
import type { Command, ScriptItem, Script, Word } from './shell-script.ts';

/** What a shell does in ways that differ between shells; measured (data/shells.json). */
export interface Shell {
  name: string;
  /** The forms of a script's last command in which it replaces itself by that command. Absent: in none. */
  handsOver?: readonly string[];
  /** Without a trap, a signal waits for the foreground command, and ends the shell at once in `wait`. */
  postpones?: boolean;
  /** It catches the signal as soon as there is a trap for EXIT: its exit code then. */
  exitTrapCode?: number;
  /** Signals, and EXIT for any with such a trap, that it treats in ways that differ between versions or commands. */
  unsure?: readonly string[];
  /** `trap … SIGTERM` works, not only `trap … TERM`. */
  knowsSigPrefix?: boolean;
  /** `kill %1` works in a script. */
  killsJobs?: boolean;
  /** `sleep` is part of the shell, so that a trap interrupts it. */
  sleepsItself?: boolean;
  /** Its exit code after a `wait` that a signal interrupted, if not 128 + the signal. */
  interruptedCode?: number;
  /** After a trap its exit code is that of the job, not of the interrupted `wait`. */
  keepsWaitCode?: boolean;
  /** Systems whose /bin/sh it is. */
  on?: string;
  /** Signals that end it at once in `wait`, though it has no trap. */
  endsAt?: readonly string[];
  source: string;
}

/** A command in the background. */
export interface Job {
  words: readonly Word[];
  /** `$!` is the last part of a pipeline. */
  isPipeline: boolean;
}

/** One way in which the script may stand. */
export interface Standing {
  kind: 'became' | 'foreground' | 'wait' | 'over';
  /** The command that it became or waits for in the foreground. */
  words: readonly Word[];
  /** The last job that is more than a sleep: for a shell that waits for jobs, the application. */
  job?: Job;
  /** All that describes how the command stands in the script: see `handsOver`. */
  forms: ReadonlySet<string>;
  /** What comes after the command or the `wait`, in the order in which it runs. */
  rest: readonly ScriptItem[];
  /** With `set -e`, a `wait` that a signal interrupts ends the script. */
  stopsOnError: boolean;
  /** The rest is run again and again. */
  inLoop: boolean;
  /** Actions by signal name without SIG, and EXIT. An empty action ignores the signal. */
  traps: ReadonlyMap<string, string>;
  /** Commands run in the foreground before it, which may take time. */
  hasPreparation: boolean;
  /** Another command of the script could be the application instead. */
  isGuess: boolean;
}

/** Built into a shell, or a program that ends within moments. */
const instant = new Set(
  (
    ': [ [[ alias awk basename bind break cat cd chmod chown chgrp command continue cp cut date declare dirname echo ' +
    'envsubst eval export expr false find getopts grep hash hostname id install jobs kill ldconfig let ln local ls ' +
    'md5sum mkdir mkfifo mktemp mv popd printenv printf ps pushd pwd read readonly realpath return rm rmdir sed seq ' +
    'set sha256sum shift shopt sort stat stty sync sysctl tee test touch tr true type typeset ulimit umask unalias ' +
    'uname unset update-ca-certificates which whoami whereis'
  ).split(' '),
);
const waitsForInput = new Set(['cat', 'read', 'tee', 'awk', 'sed', 'grep']);

interface Place {
  standing: Omit<Standing, 'traps' | 'job' | 'stopsOnError' | 'hasPreparation' | 'isGuess'>;
  isFinal: boolean;
}

// eslint-disable-next-line max-lines-per-function -- to be split: its parts share one state
export function standingsOf(script: Script, shell: Shell, variables: Map<string, Word>): Standing[] {
  const [traps, functions] = [new Map<string, string>(), new Map<string, Command>()];
  const jobs: Job[] = [];
  let [before, depth, stopsOnError] = [0, 0, false];
  const ends = [...(script.end === 'nothing' ? [] : [script.end]), ...(script.startsLine ? ['list'] : [])];
  const found = inList(script.items, new Set(ends));
  const all = found.length > 0 ? found : [{ standing: standing('over', [], new Set(), []), isFinal: true }];
  return all.map((one) => ({
    ...one.standing,
    traps,
    stopsOnError,
    job: jobs.findLast(({ words }) => !isSleep(words)),
    hasPreparation: before > all.length,
    isGuess: all.length === 1 && one.standing.forms.has('guess'),
  }));

  function standing(
    kind: Standing['kind'],
    words: readonly Word[],
    forms: ReadonlySet<string>,
    rest: readonly ScriptItem[],
  ) {
    return { kind, words, forms, rest, inLoop: false };
  }

  /** The last place of the list where the shell stands for long, and every conditional exec before it. */
  function inList(items: readonly ScriptItem[], forms: ReadonlySet<string>): Place[] {
    let [places, hasBackground]: [Place[], boolean] = [[], false];
    const formsOf = (index: number): string[] => [
      ...(index > 0 ? ['list'] : []),
      ...(items[index - 1]?.after === '&' ? ['after-background'] : hasBackground ? ['background'] : []),
      ...(index < items.length - 1 || items[index]?.after !== '' ? ['not-last'] : []),
    ];
    for (const [index, { command, after }] of items.entries()) {
      if (after === '&') {
        jobs.push(jobOf(command));
        hasBackground = true;
        continue;
      }
      const own = inCommand(command, new Set([...forms, ...formsOf(index)]), items.slice(index + 1));
      if (own.length === 0) continue;
      // The first `wait` lasts until the jobs have ended: a second one comes after that.
      if (own.every(isWait) && places.some(isWait)) continue;
      before += 1;
      const kept = places.filter(({ isFinal }) => isFinal);
      const isGuess = items[index - 1]?.after === ';' && places.some(({ standing: { kind } }) => kind === 'foreground');
      places = [...kept, ...own.map((one) => (isGuess ? withForm(one, 'guess') : one))];
      const isCertain = own.every(({ isFinal }) => isFinal) && !['if', 'case'].includes(command.kind);
      if (isCertain || after === '||') break;
    }
    return places;
  }

  function inCommand(command: Command, forms: ReadonlySet<string>, rest: readonly ScriptItem[]): Place[] {
    const add = (form: string) => new Set([...forms, form]);
    if ((depth += 1) > 400) return [];
    switch (command.kind) {
      case 'simple':
        return inSimple(command, forms, rest);
      case 'subshell':
        if (!shell.handsOver?.includes('subshell')) return inSubshell(command.body, add(command.kind), rest);
        return continued(inList(command.body, redirected(command.hasRedirect, add(command.kind))), rest);
      case 'brace':
        return continued(inList(command.body, redirected(command.hasRedirect, add(command.kind))), rest);
      case 'if':
      case 'case': {
        const of = redirected(command.hasRedirect, add(command.kind));
        const branches = command.branches.map((branch) => inList(branch, of));
        const places = continued(branches.flat(), rest);
        return branches.every((one) => one.length > 0) ? places : places.map((one) => withForm(one, 'conditional'));
      }
      case 'while':
      case 'for': {
        const inside = add(command.kind);
        const items = [...command.condition.map((item) => ({ ...item, after: ';' as const })), ...command.body];
        const places = inList(items, inside);
        if (places.length === 0)
          return isEndless(command)
            ? [{ standing: { ...standing('wait', [], inside, items), inLoop: true }, isFinal: false }]
            : [];
        return places.map(({ standing: one, isFinal }) => ({
          standing: {
            ...one,
            rest: [...one.rest, ...(keepsRunning(command) ? [] : rest)],
            inLoop: keepsRunning(command),
          },
          isFinal,
        }));
      }
      case 'function':
        functions.set(command.name, command.body);
        return [];
      case 'pipeline': {
        const last = command.parts.map((part) => inCommand(part, add('pipeline'), rest)).find((one) => one.length > 0);
        return last ?? [];
      }
      case 'not':
      case 'time':
        return inCommand(command.command, add(command.kind), rest);
    }
  }

  /** The shell waits for the subshell as for a command. Its traps are its own. */
  function inSubshell(body: readonly ScriptItem[], forms: ReadonlySet<string>, rest: readonly ScriptItem[]): Place[] {
    const outer = new Map(traps);
    const places = continued(inList(body, forms), rest);
    traps.clear();
    for (const [name, action] of outer) traps.set(name, action);
    const inFront = (one: Place['standing']): Place['standing'] => ({
      ...one,
      kind: 'foreground',
      words: one.kind === 'wait' ? (jobs.at(-1)?.words ?? []) : one.words,
    });
    return places.map(({ standing: one, isFinal }) => ({ standing: inFront(one), isFinal }));
  }

  function inSimple(
    command: Command & { kind: 'simple' },
    forms: ReadonlySet<string>,
    rest: readonly ScriptItem[],
  ): Place[] {
    const { assignments, words } = command;
    const [first, ...others] = words;
    for (const { text, isDynamic } of words.length === 0 || first?.text === 'export' ? [...assignments, ...others] : [])
      setVariable(text, isDynamic);
    if (first === undefined) return [];
    const name = first.text;
    const body = functions.get(name);
    if (body !== undefined) return continued(inCommand(body, new Set([...forms, 'function']), []), rest);
    if (name === 'trap') setTrap(others);
    if (name === 'set') stopsOnError ||= others.some(({ text }) => /^-\w*e/.test(text));
    if (name === 'exec' && others.length > 0)
      return [{ standing: standing('became', afterOptions(others), forms, rest), isFinal: true }];
    if (name === 'exit') return [];
    if (name === 'wait') {
      return jobs.length > 0 ? [{ standing: standing('wait', [], forms, rest), isFinal: false }] : [];
    }
    const own = new Set(forms);
    if (first.isDynamic) own.add('dynamic');
    if (name === 'command' || name === 'builtin') own.add('command');
    if (name === 'eval') own.add('eval');
    if (assignments.length > 0) own.add('assignment');
    if (command.hasHereDoc) own.add('here-doc');
    else if (command.hasRedirect) own.add('redirect');
    if (name === 'eval' && others[0]?.text.startsWith('exec '))
      return [{ standing: standing('became', split(others[0].text).slice(1), own, rest), isFinal: true }];
    const run = name === 'command' || name === 'eval' ? afterOptions(others) : words;
    const isInstant =
      instant.has(run[0]?.text ?? ':') &&
      !(waitsForInput.has(run[0]?.text ?? '') && run.length === 1 && name !== 'read');
    return isInstant || name === '.' || name === 'source'
      ? []
      : [{ standing: standing('foreground', run, own, rest), isFinal: false }];
  }

  function setVariable(text: string, isDynamic: boolean): void {
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
    if (isDynamic) variables.delete(name);
    else variables.set(name, { text: value, isDynamic: false, isQuoted: false });
  }

  function setTrap(words: readonly Word[]): void {
    const [action, ...names] = words.filter(({ text }, index) => index > 0 || text !== '--');
    for (const { text } of names) {
      if (/^SIG/.test(text) && shell.knowsSigPrefix === false) continue;
      const name = text === '0' ? 'EXIT' : (numbers[text] ?? text.replace(/^SIG/, '').toUpperCase());
      if (action?.text !== '-') traps.set(name, action?.text.trim() ?? '');
      else if (traps.delete(name)) traps.set('-', name);
    }
  }
}

const numbers: Record<string, string> = {
  '1': 'HUP',
  '2': 'INT',
  '3': 'QUIT',
  '10': 'USR1',
  '12': 'USR2',
  '15': 'TERM',
};

/** A loop that asks whether a job still runs ends with it. */
const keepsRunning = (loop: Command & { kind: 'while' | 'for' }): boolean =>
  !loop.condition.some(({ command }) => command.kind === 'simple' && command.words[0]?.text === 'kill');

const isEndless = (loop: Command & { kind: 'while' | 'for' }): boolean =>
  loop.condition.some(
    ({ command }) => command.kind === 'simple' && /^(true|:|read)$/.test(command.words[0]?.text ?? ''),
  );

const afterOptions = (words: readonly Word[]): readonly Word[] => {
  const from = words.findIndex(({ text }) => !text.startsWith('-'));
  return from === -1 ? [] : words.slice(words[from - 1]?.text === '-a' ? from + 1 : from);
};

const split = (text: string): Word[] =>
  text.split(/\s+/).map((word) => ({ text: word, isDynamic: word.includes('$'), isQuoted: false }));

const withForm = ({ standing: one, isFinal }: Place, form: string): Place => ({
  standing: { ...one, forms: new Set([...one.forms, form]) },
  isFinal,
});

const redirected = (is: boolean, forms: ReadonlySet<string>) => (is ? new Set([...forms, 'redirect']) : forms);

const continued = (places: readonly Place[], rest: readonly ScriptItem[]): Place[] =>
  places.map(({ standing: one, isFinal }) => ({ standing: { ...one, rest: [...one.rest, ...rest] }, isFinal }));

const isWait = ({ standing: { kind } }: Place): boolean => kind === 'wait';
export const isSleep = (words: readonly Word[]): boolean => /(^|\/)sleep$/.test(words[0]?.text ?? '');

const jobOf = (command: Command): Job => {
  const last = command.kind === 'pipeline' ? command.parts.at(-1) : command;
  const words = last?.kind === 'simple' ? last.words : [];
  const isExec = words[0]?.text === 'exec' || words[0]?.text === 'nohup';
  return { words: isExec ? words.slice(1) : words, isPipeline: command.kind === 'pipeline' };
};
