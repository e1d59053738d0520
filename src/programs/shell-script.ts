/**
 * Reads a script of a POSIX shell into the simple commands that it contains, each with how it stands in the script, as far
 * as that decides which process gets a signal (POSIX.1-2017, Shell Command Language, 2.9 and 2.10). What it cannot read
 * makes the whole script unreadable: half a script would give wrong answers.
 */
import { tokensOf, Unreadable, type Token, type Word } from './shell-words.ts';

/** What is around a command. */
interface Around {
  /** As `handsOver` of a shell calls it: the compound commands that it is in, `list`, `redirect` … */
  forms: Set<string>;
  /** The branch of each `if` and `case`, by a number for each of them. */
  branches: ReadonlyMap<number, number>;
  /** Each loop, by its number. */
  loops: readonly number[];
  /** It may not run at all. */
  isConditional: boolean;
  /** It runs beside (`|`) or instead of (`||`) the commands from this index on. */
  beside?: number;
  /** It runs only after the commands from this index on have succeeded (`&&`). */
  follows?: number;
}

export interface ShellCommand extends Around {
  /** Its index in the script; of a command in a function, the index of the call. */
  at: number;
  assignments: readonly Word[];
  words: readonly Word[];
  /** In the background, by itself or as a part of a compound command. */
  isJob: boolean;
}

export interface Script {
  commands: readonly ShellCommand[];
  functions: ReadonlyMap<string, readonly ShellCommand[]>;
}

/** Undefined: not readable, or too long to answer at once. */
export function readScript(text: string): Script | undefined {
  try {
    return new Reader(tokensOf(text)).script(formsOfText(text));
  } catch (cause) {
    if (cause instanceof Unreadable) return undefined;
    throw cause;
  }
}

/** The words of each command at the top of a script; `isPlain`: nothing else is in it, as a loop or a pipeline would be. */
export function commandsIn(text: string): { commands: readonly (readonly string[])[]; isPlain: boolean } {
  const { commands = [], functions } = readScript(text) ?? {};
  const isCompound = (form: string): boolean => /^(brace|subshell|if|case|while|for|pipeline|!|time)$/.test(form);
  const atTop = commands.filter(({ forms, isJob }) => !isJob && ![...forms].some(isCompound));
  const isPlain = commands.length > 0 && atTop.length === commands.length && functions?.size === 0;
  return { commands: atTop.map(({ words }) => words.map((word) => word.text)), isPlain };
}

/** What stands before and after the commands: some shells then do not notice that the last one is the last. */
function formsOfText(text: string): string[] {
  const end = text.slice(text.trimEnd().length - 1);
  return [
    ...(/^[ \t]*\n/.test(text) ? ['list'] : []),
    ...(end.includes('\n') ? ['newline'] : []),
    ...(end.startsWith(';') ? ['semicolon'] : []),
    ...(/(^|[\s;&|])#[^'"\n]*$/.test(text.slice(-400)) ? ['comment'] : []),
  ];
}

const maxDepth = 40;
const keywords = new Set(
  '{ } ! time if then elif else fi case esac while until for select do done function'.split(' '),
);
const caseEnds = [';;', ';&', ';;&', 'esac'];
const isRedirect = (operator = ''): boolean => /^(<|>|&>)/.test(operator);

class Reader {
  private commands: ShellCommand[] = [];
  private readonly functions = new Map<string, readonly ShellCommand[]>();
  private readonly tokens: readonly Token[];
  private at = 0;
  private depth = 0;
  /** How many compound commands with a condition there have been. */
  private choices = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  script(forms: readonly string[]): Script {
    this.list(top(forms), []);
    need(this.at === this.tokens.length);
    return { commands: this.commands, functions: this.functions };
  }

  /** Reads up to one of the ends, and returns it. */
  private list(around: Around, ends: readonly string[]): string {
    need((this.depth += 1) < maxDepth);
    let [items, jobs, last]: [number, string[], number] = [0, [], this.commands.length];
    const first = last;
    for (; ; items += 1) {
      while (this.next() === '\n' || this.next() === ';') this.at += 1;
      if (this.at >= this.tokens.length || ends.includes(this.next() ?? '')) break;
      last = this.commands.length;
      this.andOr(within(around, ...(items > 0 ? ['list', ...jobs] : jobs)));
      const operator = (this.at < this.tokens.length ? this.next() : ';') ?? '';
      if (operator === '&') {
        for (const command of this.from(last)) command.isJob = true;
        this.at += 1;
      }
      need([';', '\n', '&', ...ends].includes(operator));
      jobs = operator === '&' ? ['after-background'] : jobs.length > 0 ? ['background'] : [];
    }
    for (const command of this.commands.slice(first, last)) command.forms.add('not-last');
    this.depth -= 1;
    const end = this.next() ?? '';
    need(ends.length === 0 || ends.includes(end));
    this.at += ends.length === 0 ? 0 : 1;
    return end;
  }

  private andOr(around: Around): void {
    const first = this.commands.length;
    this.pipeline(around);
    for (let operator = this.next(); operator === '&&' || operator === '||'; operator = this.next()) {
      this.skip();
      for (const command of this.from(first)) command.forms.add('not-last');
      const { beside, follows } = operator === '&&' ? { ...around, follows: first } : { ...around, beside: first };
      this.pipeline({ ...within(around, 'list'), isConditional: true, beside, follows });
    }
  }

  private pipeline(around: Around): void {
    const first = this.commands.length;
    const prefix = this.next();
    const isPrefixed = prefix === '!' || prefix === 'time';
    if (isPrefixed) this.at += 1;
    const inside = isPrefixed ? within(around, prefix) : around;
    this.command(inside);
    while (this.next() === '|' || this.next() === '|&') {
      this.skip();
      this.command(Object.assign(within(inside), { beside: first }));
      for (const command of this.from(first)) command.forms.add('pipeline');
    }
  }

  private command(around: Around): void {
    const first = this.commands.length;
    const keyword = this.next() ?? '';
    if (keyword !== '(' && !keywords.has(keyword)) return this.simple(around);
    this.at += 1;
    if (keyword === '{') this.list(within(around, 'brace'), ['}']);
    else if (keyword === '(') this.list(within(around, 'subshell'), [')']);
    else if (keyword === 'if') this.ifOf(within(around, 'if'));
    else if (keyword === 'case') this.caseOf(within(around, 'case'));
    else if (keyword === 'function') this.define(this.take().text);
    else this.loop(around, keyword);
    while (isRedirect(this.next())) {
      const form = this.redirect();
      for (const command of this.from(first)) command.forms.add(form);
    }
  }

  private ifOf(around: Around): void {
    const choice = (this.choices += 1);
    for (let [branch, end] = [0, 'if']; end !== 'fi'; branch += 1) {
      const isCondition = end === 'if' || end === 'elif';
      const inside = { ...around, isConditional: true, branches: new Map([...around.branches, [choice, branch]]) };
      if (isCondition) end = this.list(within(inside, 'if condition'), ['then']);
      else end = this.list(inside, ['elif', 'else', 'fi']);
    }
  }

  private caseOf(around: Around): void {
    const choice = (this.choices += 1);
    this.take();
    this.expect('in');
    for (let [branch, end] = [0, '']; end !== 'esac'; branch += 1) {
      while (this.next() === '\n') this.at += 1;
      if (this.next() === 'esac') return this.expect('esac');
      while (this.next() !== ')') this.skip();
      this.skip();
      const branches = new Map([...around.branches, [choice, branch]]);
      end = this.list({ ...around, isConditional: true, branches }, caseEnds);
    }
  }

  private loop(around: Around, keyword: string): void {
    const inside = { ...around, isConditional: true, loops: [...around.loops, (this.choices += 1)] };
    if (keyword === 'for' || keyword === 'select') {
      while (this.next() !== 'do') this.skip();
      this.expect('do');
      this.list(within(inside, 'for'), ['done']);
    } else {
      need(keyword === 'while' || keyword === 'until');
      this.list(within(inside, 'while', 'while condition'), ['do']);
      this.list(within(inside, 'while'), ['done']);
    }
  }

  private define(name: string): void {
    if (this.next() === '(') this.at += 2;
    while (this.next() === '\n') this.at += 1;
    const outer = this.commands;
    this.commands = [];
    this.command(top([]));
    this.functions.set(name, this.commands);
    this.commands = outer;
  }

  private simple(around: Around): void {
    const [assignments, words]: [Word[], Word[]] = [[], []];
    const redirects: string[] = [];
    const start = this.at;
    for (let token = this.tokens[this.at]; token !== undefined; token = this.tokens[this.at]) {
      if (typeof token !== 'string') {
        const isAssignment = words.length === 0 && /^[A-Za-z_]\w*\+?=/.test(token.text);
        (isAssignment ? assignments : words).push(this.take());
      } else if (isRedirect(token)) redirects.push(this.redirect());
      else if (token === '(' && words.length === 1) return this.define(words[0]?.text ?? '');
      else break;
    }
    need(this.at > start);
    const own = { at: this.commands.length, assignments, words, isJob: false };
    this.commands.push(Object.assign(within(around, ...redirects), own));
  }

  private redirect(): string {
    const form = this.next()?.startsWith('<<') ? 'here-doc' : 'redirect';
    this.at += 1;
    this.take();
    return form;
  }

  private from = (first: number): readonly ShellCommand[] => this.commands.slice(first);

  /** The next operator, or keyword where a command may begin. */
  private next(): string | undefined {
    const token = this.tokens[this.at];
    if (typeof token !== 'object') return token;
    return token.isQuoted || !(keywords.has(token.text) || token.text === 'in') ? undefined : token.text;
  }

  private expect(text: string): void {
    while (this.next() === '\n') this.at += 1;
    need(this.next() === text);
    this.at += 1;
  }

  private take(): Word {
    const token = this.tokens[this.at++];
    if (typeof token !== 'object') throw new Unreadable();
    return token;
  }

  /** Skips a token, and the ends of lines after it. */
  private skip(): void {
    need(this.at < this.tokens.length);
    do this.at += 1;
    while (this.next() === '\n');
  }
}

const top = (forms: readonly string[]): Around => ({
  forms: new Set(forms),
  branches: new Map(),
  loops: [],
  isConditional: false,
});
/** Names each field: a copy by `...` takes much longer, and each command of a long script needs one. */
function within(
  { forms, branches, loops, isConditional, beside, follows }: Around,
  ...more: readonly string[]
): Around {
  return { forms: new Set([...forms, ...more]), branches, loops, isConditional, beside, follows };
}

function need(isReadable: boolean): void {
  if (!isReadable) throw new Unreadable();
}
