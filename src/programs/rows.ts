/** What is known of programs, as data: the rows of data/*.json, and which row a command line means. */
import type { Link, StopRemedy } from './behaviour.ts';
import programRows from './data/programs.json' with { type: 'json' };
import shellRows from './data/shells.json' with { type: 'json' };
import wrapperRows from './data/wrappers.json' with { type: 'json' };

/** What a program does with one signal. data/schema.json describes the fields. */
export interface Reaction {
  does:
    | ('drains' | 'waits' | 'cuts' | 'ends' | 'drops' | 'ignores' | 'reloads' | 'unknown')
    | ('execs' | 'forwards' | 'leaves');
  code?: number;
  childCode?: number;
  cutCode?: number;
  limit?: number;
  from?: string;
  sends?: string;
  toGroup?: boolean;
  note?: string;
  decidedBy?: string;
  remedy?: StopRemedy;
}

/** Where in a wrapper's arguments the command is. */
interface NextCommand {
  values?: readonly string[];
  operands?: number;
  assignments?: boolean;
  line?: string;
  lineShell?: string;
  isLine?: boolean;
  split?: string;
  after?: readonly string[];
  afterDashes?: string;
  script?: string;
  hidden?: boolean;
}

/** Where a runtime's program is. */
interface Runs {
  values?: readonly string[];
  inline?: readonly string[];
  module?: string;
  handler?: string;
  isText?: boolean;
  noScript?: boolean;
}

/** A row of data/programs.json and data/wrappers.json. */
export interface ProgramRow {
  name: string;
  kind?: Link['kind'];
  match: readonly string[];
  next?: NextCommand;
  runs?: Runs;
  signals?: Readonly<Record<string, Reaction>>;
  others?: Reaction;
  right?: string | null;
  remedy?: StopRemedy;
  variants?: readonly (Partial<ProgramRow> & { when: string })[];
  varies?: boolean;
  isGuess?: boolean;
  catchesByItself?: boolean;
  source: string;
  /** Not in the data: a runtime whose program stands in the command line, which may start another one. */
  text?: 'has a handler' | 'has no handler';
  startsChild?: boolean;
}

/** What a shell does in ways that differ between shells (data/shells.json). */
export interface Shell {
  name: string;
  handsOver?: readonly string[];
  postpones?: boolean;
  endsAfterExitTrap?: boolean;
  endsAt?: readonly string[];
  unsure?: readonly string[];
  knowsSigPrefix?: boolean;
  killsJobs?: boolean;
  sleepsItself?: boolean;
  on?: string;
  source: string;
}

export const shellsByName: ReadonlyMap<string, Shell> = new Map(
  (shellRows as Shell[]).map((shell) => [shell.name, shell]),
);
/** All rows but those of shells, in the order of the documentation. */
export const rows = [...wrapperRows, ...programRows] as readonly ProgramRow[];

const byName = new Map<string, { row: ProgramRow; words: readonly string[] }[]>();
for (const row of rows)
  for (const match of row.match) {
    const words = match.startsWith('busybox ') || match.startsWith('toybox ') ? [match] : match.split(' ');
    const [first = ''] = words;
    byName.set(
      first,
      [...(byName.get(first) ?? []), { row, words }].sort((one, other) => other.words.length - one.words.length),
    );
  }

/** The row that the words of a command line mean; for a runtime that of the program it runs, if it has one. */
export function rowOf(words: readonly string[]): ProgramRow | undefined {
  const [path = ''] = words;
  const named = path.includes(' ') ? path : (path.split('/').at(-1) ?? '');
  const found =
    candidate(path, words) ?? candidate(named, words) ?? candidate(named.replace(/-?\d+(\.\d+)*$/, ''), words);
  if (found === undefined) return undefined;
  const own = words.slice(1).slice(0, ownArguments(found.row, words));
  const row = variant(found.row, [named, ...own].join(' '), own.join(' '));
  return row.runs ? ofProgram(row, words.slice(found.words.length)) : row;
}

/** How many of the arguments are a wrapper's own; all of them where its command is not a part of them. */
const ownArguments = ({ next }: ProgramRow, words: readonly string[]): number =>
  next && next.line === undefined && (next.operands !== undefined || next.values || next.assignments)
    ? afterOptions(next, words) - 1
    : words.length;

const candidate = (name: string, words: readonly string[]): { row: ProgramRow; words: readonly string[] } | undefined =>
  byName.get(name)?.find((one) => one.words.slice(1).every((word, index) => words[index + 1] === word));

function variant(row: ProgramRow, all: string, args: string): ProgramRow {
  let found = row.varies ? { ...row, isGuess: true } : row;
  for (const { when, ...rest } of row.variants ?? [])
    if (new RegExp(when.replace(/^@/, '')).test(when.startsWith('@') ? all : args)) found = { ...found, ...rest };
  const signals = Object.entries(found.signals ?? {}).map(
    ([name, reaction]) => [name, configured(reaction, args)] as const,
  );
  return { ...found, signals: Object.fromEntries(signals) };
}

/** The limit that the arguments set, where `from` is an option. */
function configured(reaction: Reaction, args: string): Reaction {
  const { from = '' } = reaction;
  if (!from.startsWith('-')) return reaction;
  const [, seconds] = new RegExp(`(?:^| )${from}[ =]?(\\d+(?:\\.\\d+)?)s?(?: |$)`).exec(args) ?? [];
  return seconds === undefined ? reaction : { ...reaction, limit: Number(seconds) };
}

/** `python -m gunicorn`, `node node_modules/.bin/next start`, `ruby bin/puma`: the row of the program. */
function ofProgram(row: ProgramRow, args: readonly string[]): ProgramRow {
  const { values = [], inline = [], module, isText = false, noScript } = row.runs ?? {};
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (inline.includes(word) || isText) return withText(row, args.slice(isText ? at : at + 1).join(' '));
    if (word === module) return rowOf(args.slice(at + 1).map((one) => one.replace(/\.__main__$/, ''))) ?? row;
    if (values.includes(word)) at += 1;
    else if (!word.startsWith('-')) return (noScript ? undefined : rowOf(args.slice(at))) ?? row;
  }
  return row;
}

/** The index of the first word that is no option, value of an option, assignment or operand of the wrapper itself. */
export function afterOptions({ values, operands = 0, assignments }: NextCommand, texts: readonly string[]): number {
  let [left, at] = [operands, 1];
  for (; at < texts.length; at += 1) {
    const text = texts[at] ?? '';
    if (text === '--') {
      if (left === 0) return at + 1;
    } else if (/^-./.test(text)) at += values?.includes(text) ? 1 : 0;
    else if (assignments && /^\w+=/.test(text)) continue;
    else if (left > 0) left -= 1;
    else break;
  }
  return at;
}

const withText = (row: ProgramRow, text: string): ProgramRow => ({
  ...row,
  text: new RegExp(row.runs?.handler ?? '$^').test(text) ? 'has a handler' : 'has no handler',
  startsChild: /system|subprocess|spawn|passthru|popen/i.test(text),
});
