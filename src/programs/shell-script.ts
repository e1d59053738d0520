/**
 * Reads a script of a POSIX shell into the simple commands that it contains, each with how it stands in the script, as far
 * as that decides which process gets a signal (POSIX.1-2017, Shell Command Language, 2.9 and 2.10). What it cannot read
 * makes the whole script unreadable: half a script would give wrong answers.
 */
import commandNames from './data/commands.json' with { type: 'json' };
import { tokensOf, type Token, type Word } from './shell-words.ts';

export interface ShellCommand {
  /**
   * As `handsOver` of a shell calls it: the compound commands around it, `list`, `redirect` …; and `?`: it may not run at
   * all, `&&`: only after the one before it, `||`: beside or instead of a program before it.
   */
  forms: Set<string>;
  words: Word[];
  /** In the background, by itself or as a part of a compound command. */
  isJob: boolean;
}

export interface Script {
  commands: readonly ShellCommand[];
  functions: ReadonlyMap<string, readonly ShellCommand[]>;
}

/** Undefined: not readable, or too long to answer at once. */
export function readScript(text: string): Script | undefined {
  const tokens = tokensOf(text);
  const reader = tokens && new Reader(tokens);
  if (!reader?.read()) return undefined;
  const last = reader.commands.at(-1);
  for (const { forms } of reader.commands.slice(0, -1)) forms.add('not-last');
  // What stands before and after the commands: some shells then do not notice that the last one is the last.
  if (/^[ \t]*\n/.test(text)) last?.forms.add('list');
  if (/\n\s*$/.test(text.slice(-200))) last?.forms.add('newline');
  if (/;\s*$/.test(text.slice(-200))) last?.forms.add('semicolon');
  if (/(^|[\s;&|])#[^'"\n]*$/.test(text.slice(-400))) last?.forms.add('comment');
  return reader;
}

/** The words of each command at the top of a script; `isPlain`: nothing else is in it, as a loop or a pipeline would be. */
export function commandsIn(text: string): { commands: readonly (readonly string[])[]; isPlain: boolean } {
  const { commands = [], functions } = readScript(text) ?? {};
  const isCompound = (form: string): boolean => /^(brace|subshell|if|case|while|for|pipeline|!|time)$/.test(form);
  const atTop = commands.filter(({ forms, isJob }) => !isJob && ![...forms].some(isCompound));
  const isPlain = commands.length > 0 && atTop.length === commands.length && functions?.size === 0;
  return { commands: atTop.map(({ words }) => words.map((word) => word.text)), isPlain };
}

const instant = new Set(commandNames.instant);
const waitForInput = new Set(commandNames.waitForInput);
/** It ends by itself within moments. */
export const isInstant = (words: readonly Word[]): boolean =>
  words[0] === undefined || (instant.has(words[0].text) && !(words.length === 1 && waitForInput.has(words[0].text)));

/** A compound command that is not closed. `first`: the index of its first command; `unit`: of the list that it is in. */
interface Open {
  forms: Set<string>;
  end: string;
  first: number;
  unit: number;
  runs: boolean;
  /** Of the function whose body it is. */
  name?: string;
  /** In the condition of `if` and `while`: its form. */
  condition?: string;
}

/** By the keyword: what `handsOver` of a shell calls a compound command, and what closes it. */
const compounds = new Map<string, readonly [string, string]>([
  ['{', ['brace', '}']],
  ['(', ['subshell', ')']],
  ['if', ['if', 'fi']],
  ['case', ['case', 'esac']],
  ['while', ['while', 'done']],
  ['until', ['while', 'done']],
  ['for', ['for', 'done']],
]);
const maxDepth = 40;

class Reader implements Script {
  readonly commands: ShellCommand[] = [];
  readonly functions = new Map<string, readonly ShellCommand[]>();
  private readonly stack: Open[] = [];
  private readonly tokens: readonly Token[];
  private at = 0;
  /** Where the commands that are joined by `&&`, `||` and `|` began, and the operator before the next one. */
  private unit = 0;
  private operator = ';';
  /** One of them is a program that does not end within moments. */
  private runs = false;
  private hasJobs = false;
  /** What has begun: a simple command, or a compound one that is closed. Then what stands before the next one. */
  private current: ShellCommand | undefined;
  private closed: Open | undefined;
  private prefixes: string[] = [];
  private name: string | undefined;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  read(): boolean {
    while (this.at < this.tokens.length) if (!this.step(this.key())) return false;
    return this.stack.length === 0;
  }

  /** An operator, or a word that may be a keyword. */
  private key(): string {
    const token = this.tokens[this.at] ?? '';
    return typeof token === 'string' ? token : token.isQuoted ? '' : token.text;
  }

  /** Reads a token or more. False: not readable. */
  private step(key: string): boolean {
    const [open, token] = [this.stack.at(-1), this.tokens[this.at++]];
    const isStart = this.current === undefined && this.closed === undefined;
    if (open && key === open.end && (key === ')' || this.current === undefined)) this.close(open);
    else if (open?.end === 'esac' && /^;[;&]&?$/.test(key)) return this.pattern();
    else if (/^(\n|;|&&?|\|\|?|\|&)$/.test(key)) this.separate(key);
    else if (/^(<|>|&>)/.test(key)) {
      this.current ??= this.closed ? undefined : this.begin();
      for (const { forms } of this.begun()) forms.add(key.startsWith('<<') ? 'here-doc' : 'redirect');
      return typeof this.tokens[this.at++] === 'object';
    } else if (isStart && compounds.has(key)) return this.open(key);
    else if (isStart && open && /^(then|do|else|elif)$/.test(key)) {
      open.condition = key === 'elif' ? 'if condition' : undefined;
      this.restart();
    } else if (isStart && /^(!|time)$/.test(key)) this.prefixes.push(key);
    else if (isStart && (key === 'function' || this.key() === '(')) this.define(key);
    else if (typeof token !== 'object' || this.closed) return false;
    else {
      const { forms, words } = (this.current ??= this.begin());
      const isFirst = words.length === 0;
      const isAssignment = isFirst && /^[A-Za-z_]\w*\+?=/.test(token.text);
      if (isFirst && !isAssignment && token.isDynamic) forms.add('dynamic');
      if (isFirst && /^(command|builtin)$/.test(key)) forms.add('command');
      if (isAssignment) forms.add('assignment');
      else words.push(token);
    }
    return true;
  }

  /** `NAME()` or `function NAME`: the compound command after it is its body. */
  private define(key: string): void {
    this.name = key === 'function' ? this.key() : key;
    if (key === 'function') this.at += 1;
    if (this.key() === '(') this.at += 2;
  }

  private open(keyword: string): boolean {
    const [form = '', end = ''] = compounds.get(keyword) ?? [];
    const forms = this.forms().add(form);
    if (!/brace|subshell/.test(form)) forms.add('?');
    const condition = /^(if|while)$/.test(form) ? `${form} condition` : undefined;
    this.stack.push({
      forms,
      condition,
      end,
      first: this.commands.length,
      unit: this.unit,
      runs: this.runs,
      name: this.name,
    });
    this.name = undefined;
    this.restart();
    if (form === 'case') return this.skipTo('in') && this.pattern();
    return this.stack.length < maxDepth && (form !== 'for' || this.skipTo('do'));
  }

  /** Skips to the commands of the next branch of `case`, or to its end. */
  private pattern(): boolean {
    this.restart();
    while (this.key() === '\n') this.at += 1;
    return this.key() === 'esac' || this.skipTo(')');
  }

  private close({ first, unit, runs, name }: Open): void {
    this.closed = this.stack.pop();
    [this.current, this.unit, this.runs] = [undefined, unit, runs];
    if (name !== undefined) this.functions.set(name, this.commands.splice(first));
  }

  private separate(operator: string): void {
    const begun = this.begun();
    if (begun.length === 0 && this.closed === undefined) return;
    this.runs ||= begun.some(({ words }) => !isInstant(words));
    if (/^\|&?$/.test(operator)) for (const { forms } of begun) forms.add('pipeline');
    if (operator === '&') for (const one of this.commands.slice(this.unit)) one.isJob = this.hasJobs = true;
    const { unit, runs } = this;
    this.restart(operator);
    if (/^[&|]./.test(operator) || operator === '|') [this.unit, this.runs] = [unit, runs];
  }

  /** The simple command that has begun, or the commands of the compound one. */
  private begun(): readonly ShellCommand[] {
    return this.closed ? this.commands.slice(this.closed.first) : this.current ? [this.current] : [];
  }

  private restart(operator = ';'): void {
    [this.current, this.closed, this.operator, this.unit] = [undefined, undefined, operator, this.commands.length];
    this.runs = false;
  }

  private begin(): ShellCommand {
    const command = { forms: this.forms(), words: [], isJob: false };
    this.commands.push(command);
    return command;
  }

  private forms(): Set<string> {
    const { operator } = this;
    const { forms = [], condition = [] } = this.stack.at(-1) ?? {};
    const found = new Set([...forms, ...[condition].flat(), ...this.prefixes.splice(0)]);
    if (this.commands.length > 0) found.add('list');
    if (this.hasJobs) found.add(operator === '&' ? 'after-background' : 'background');
    if (/^\|&?$/.test(operator)) found.add('pipeline');
    if (operator.startsWith('|') && this.runs) found.add('||');
    if (/^(&&|\|\|)$/.test(operator)) found.add('?');
    return operator === '&&' ? found.add('&&') : found;
  }

  private skipTo(end: string): boolean {
    while (this.key() !== end && this.at < this.tokens.length) this.at += 1;
    this.at += 1;
    return this.at <= this.tokens.length;
  }
}
