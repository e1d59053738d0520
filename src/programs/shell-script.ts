/**
 * Reads the arguments of a shell, and a script of a POSIX shell into its simple commands, and how each stands in it
 * (POSIX.1-2017, Shell Command Language, 2.9, 2.10).
 */
import data from './data/commands.json' with { type: 'json' };
import { tokensOf, type Token, type Word, plainWord } from './shell-words.ts';

export interface ShellCommand {
  /** In the words of `handsOver`; `?`: it may not run, `&&`: only after the one before it, `||`: beside or instead of that. */
  forms: Set<string>;
  words: Word[];
  /** In the background, by itself or as a part of a compound command. */
  isJob: boolean;
  /** By another command of the same script, or of the same job. */
  isFollowed?: boolean;
}

export type Script = Readonly<Pick<Reader, 'functions'>> & { commands: readonly ShellCommand[] };

/** Undefined: a part of it is not readable, as half a script would give wrong answers, or it is too long to answer at once. */
export function readScript(text: string): Script | undefined {
  const tokens = tokensOf(text);
  const reader = tokens && new Reader(tokens);
  if (reader?.list('', []) !== '') return undefined;
  // With these, some shells do not notice that the last command is the last.
  const last = reader.commands.at(-1);
  if (/\n\s*$/.test(text.slice(-200))) last?.forms.add('newline');
  if (/\s#[^\n]*$/.test(text.slice(-200))) last?.forms.add('comment');
  if (!/^[\w./ -]+$/.test(text)) last?.forms.add('syntax');
  return reader;
}

/** With the commands of a function where it is called, and of `eval` those of its text. Undefined: too many, or not readable. */
export function inlined({ commands, functions }: Script, depth = 0): Script | undefined {
  const all: ShellCommand[] = [];
  for (const call of commands) {
    const [name, ...args] = call.words;
    const text = textsOf(args).join(' ');
    // `eval "$(…)"` sets variables.
    const isEval = name?.text === 'eval' && /^[^$`]/.test(text);
    const body = isEval ? readScript(text)?.commands : functions.get(name?.text ?? '');
    const isShort = depth < 4 && all.length < 200 && text.length < 300;
    const inner = body && isShort ? inlined({ commands: body, functions }, depth + 1) : undefined;
    if (!inner && (body || isEval)) return undefined;
    const given = argumentsIn(inner?.commands ?? [], args);
    const inside = (one: ShellCommand): ShellCommand => ({
      forms: new Set([...call.forms, ...one.forms, isEval ? 'eval' : 'function']),
      words: isEval ? one.words : expanded(one.words, given),
      isJob: call.isJob || one.isJob,
      isFollowed: call.isFollowed || one.isFollowed,
    });
    all.push(...(inner?.commands.map(inside) ?? [call]));
  }
  return { commands: all, functions };
}

/** What `"$@"` means in these commands: still itself, if `shift` or `set WORDS` among them changes it. */
export const argumentsIn = (commands: readonly ShellCommand[], args: Word[]): Word[] =>
  commands.some(({ words }) => /^(shift|set (?![-+]\w))/.test(textsOf(words).join(' '))) ? [changed] : args;
const changed: Word = { ...plainWord('$@'), isDynamic: true };

/** `"$@"` and `$1` by the arguments of the script or function. */
export const expanded = (words: readonly Word[], args: readonly Word[]): Word[] =>
  words.flatMap((word) => {
    const [, name] = /^\$\{?([@*1-9])\}?$/.exec(word.text) ?? [];
    if (name === undefined || !word.isDynamic) return [word];
    return /\d/.test(name) ? [args[Number(name) - 1] ?? word] : [...args];
  });

/** The words of each command at the top; the first `atOnce` start at once. `isPlain`: no loop, no pipeline, nothing else. */
export function commandsIn(text: string) {
  const { commands = [], functions } = readScript(text) ?? {};
  const isCompound = (form: string): boolean => /^(brace|subshell|if|case|while|for|pipeline|!|time)$/.test(form);
  const atTop = commands.filter(({ forms, isJob }) => !isJob && ![...forms].some(isCompound));
  const isPlain = commands.length > 0 && atTop.length === commands.length && functions?.size === 0;
  const slow = commands.findIndex((one) => !one.isJob && (one.forms.has('while') || !isInstant(one)));
  const atOnce = commands.slice(0, slow < 0 ? undefined : slow + 1).filter((one) => atTop.includes(one)).length;
  return { commands: atTop.map(({ words }): readonly string[] => textsOf(words)), isPlain, atOnce };
}

export const isInstant = ({ words: [first, ...others], forms }: Pick<ShellCommand, 'words' | 'forms'>): boolean =>
  !first || data.instant.includes(first.text) !== (first.text === 'cat' && !others[0] && !forms.has('here-doc'));

export const textsOf = (words: readonly Word[]): string[] => words.map(({ text }) => text);
const patterns = new Map((['ends', 'serves', 'starts'] as const).map((one) => [one, new RegExp(data[one].join('|'))]));
export const isOneThat = (verb: 'ends' | 'serves' | 'starts', words: readonly Word[]): boolean =>
  patterns.get(verb)?.test(textsOf(words).join(' ')) === true;

/** What closes the commands after a keyword, or divides them from the next ones. */
const endsAfter = new Map<string | undefined, string>(Object.entries(data.endsAfter));

class Reader {
  readonly commands: ShellCommand[] = [];
  readonly functions = new Map<string, readonly ShellCommand[]>();
  private at = 0;
  private hasJobs = false;

  constructor(private readonly tokens: readonly Token[]) {}

  /** Reads commands up to one of the words `ends`, and returns it; '' is the end of the script. Undefined: not readable. */
  list(ends: string, outer: Iterable<string>): string | undefined {
    // Of the commands that `&&`, `||` and `|` join: the first, and whether one is a program that runs for long.
    let [unit, last, operator, runs] = [this.commands.length, this.commands.length, ';', false];
    for (;;) {
      while (this.key() === '\n') this.at += 1;
      if (ends.split(' ').includes(this.key())) return this.take();
      const start = this.commands.length;
      for (const one of this.commands.slice(last, start)) one.isFollowed ||= !one.isJob;
      last = start;
      if (!this.command(new Set([...outer, ...this.formsAfter(operator, runs)]))) return undefined;
      const begun = this.commands.slice(start);
      runs ||= begun.some((one) => !isInstant(one));
      if (/^(\n|;|&&?|\|\|?|\|&)$/.test(this.key())) operator = this.take();
      else if (ends.split(' ').includes(this.key())) operator = ';';
      else return undefined;
      if (/^\|&?$/.test(operator)) for (const one of begun) one.forms.add('pipeline');
      if (operator === '&') for (const one of this.commands.slice(unit)) one.isJob = this.hasJobs = true;
      if (!/^(&&|\|)/.test(operator)) [unit, runs] = [this.commands.length, false];
    }
  }

  private formsAfter(operator: string, runs: boolean): string[] {
    const found = this.hasJobs ? [operator === '&' ? 'after-background' : 'background'] : [];
    if (/^\|&?$/.test(operator)) found.push('pipeline');
    if (operator.startsWith('|') && runs) found.push('||');
    return /^(&&|\|\|)$/.test(operator) ? [...found, '?', operator.replace('||', '?')] : found;
  }

  /** An operator, or a word that may be a keyword. */
  private key(at = this.at): string {
    const token = this.tokens[at] ?? '';
    return typeof token === 'string' ? token : token.isQuoted ? '"' : token.text;
  }

  private readonly take = (): string => this.key(this.at++);

  private skipTo(end: string): string {
    while (this.key() !== end && this.at < this.tokens.length) this.at += 1;
    return this.take();
  }

  /** A simple or a compound command with its redirections, or a function. False: not readable. */
  private command(forms: Set<string>): boolean {
    const [key, first, from] = [this.key(), this.commands.length, this.at];
    if (/^(!|time|command|builtin)$/.test(key)) return this.take() !== '' && this.command(forms.add(key));
    if (key === 'function' || (this.key(from + 1) === '(' && this.key(from + 2) === ')')) return this.define();
    const words: Word[] = [];
    const isSimple = !/^(if|case|while|until|for|[{(])$/.test(key);
    if (isSimple) this.commands.push({ forms, words, isJob: false });
    else if (!this.compound(forms)) return false;
    for (; ; this.at += 1) {
      const token = this.tokens[this.at];
      if (typeof token === 'string' && /^(<|>|&>)/.test(token)) {
        for (const one of this.commands.slice(first))
          one.forms.add(token.startsWith('<<') ? 'here-doc' : isSimple || key === '(' ? 'redirect' : 'group-redirect');
        this.at += 1;
        if (typeof this.tokens[this.at] !== 'object') return false;
      } else if (!isSimple || typeof token !== 'object') return this.at > from;
      else if (words.length > 0 || !/^[A-Za-z_]\w*\+?=/.test(token.text)) words.push(token);
    }
  }

  private define(): boolean {
    if (this.key() === 'function') this.at += 1;
    const [name, first] = [this.take(), this.commands.length];
    if (this.key() === '(') this.at += 2;
    while (this.key() === '\n') this.at += 1;
    if (!this.command(new Set()) || this.functions.has(name)) return false; // Of two, the branch taken decides which.
    return this.functions.set(name, this.commands.splice(first)).size > 0;
  }

  private compound(outer: ReadonlySet<string>): boolean {
    let word: string | undefined = this.take();
    const form = { '{': 'brace', '(': 'subshell', until: 'while' }[word] ?? word;
    const forms = new Set([...outer, form, ...(/brace|subshell/.test(form) ? [] : ['?'])]);
    if (/for|case/.test(form)) word = this.skipTo(form === 'for' ? 'do' : 'in');
    for (let ends = endsAfter.get(word); ends !== undefined; ends = endsAfter.get(word)) {
      if (ends.endsWith('esac')) {
        while (this.key() === '\n') this.at += 1;
        if (this.key() === 'esac') return this.take() !== '';
        if (this.skipTo(')') === '') return false;
      }
      word = this.list(ends, ends === 'then' || ends === 'do' ? [...forms, `${form} condition`] : forms);
      if (/^;[;&]/.test(word ?? '')) word = ';;';
    }
    return Boolean(word);
  }
}

/** By POSIX, options may be in one word or several, before and after `c` (sh, "OPTIONS"). */
export function shellArguments(words: readonly Word[]) {
  let [letters, at] = ['', 0];
  for (; /^[-+]./.test(words[at]?.text ?? '') && words[at]?.text !== '--'; at += 1) {
    const option = words[at]?.text ?? '';
    const isLong = option.startsWith('--');
    if (option.startsWith('-') && !isLong) letters += option;
    at += isLong ? Number(/^--(rcfile|init-file)$/.test(option)) : option.replace(/[^oO]/g, '').length;
  }
  if (/^--?$/.test(words[at]?.text ?? '')) at += 1;
  const [first, ...rest] = words.slice(at);
  const isLine = letters.includes('c');
  const file = isLine || letters.includes('s') ? undefined : first;
  return {
    /** As `handsOver` of a shell calls it. */
    forms: [file ? 'file' : [], letters.includes('i') ? 'interactive' : []].flat(),
    stopsOnError: letters.includes('e'),
    line: isLine ? first : undefined,
    /** Without a line and a file, it reads its commands from its input. */
    file,
    args: isLine ? rest.slice(1) : rest,
  };
}

/** LINE of a shell that a command line starts with `-c LINE`, also by way of `env` and `busybox`. */
export function lineOfShell(words: readonly string[]): string | undefined {
  const start = words.findIndex((word) => !/^((.*\/)?(busybox|toybox|env)|-.*|\w+=.*)$/s.test(word));
  const isShell = /^(.*\/)?(ba|da|a|hu|z|k|mk|ya|po)?sh$/.test(words[start] ?? '');
  return isShell ? shellArguments(words.slice(start + 1).map(plainWord)).line?.text : undefined;
}
