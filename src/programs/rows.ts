/** What is known of programs, as data: the rows of data/*.json, and which row a command line means. */
import type { Link, StopRemedy } from './behaviour.ts';
import programRows from './data/programs.json' with { type: 'json' };
import shellRows from './data/shells.json' with { type: 'json' };
import wrapperRows from './data/wrappers.json' with { type: 'json' };

/** What a program does with one signal. data/schema.json describes the fields, also of the other types here. */
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

/** A row of data/programs.json and data/wrappers.json. */
export interface ProgramRow {
  name: string;
  kind?: Link['kind'];
  match: readonly string[];
  /** Where in a wrapper's arguments the command is. */
  next?: {
    values?: readonly string[];
    operands?: number;
    line?: string;
    after?: readonly string[];
    script?: string;
    hidden?: boolean;
  };
  runs?: readonly string[];
  signals?: Readonly<Record<string, Reaction>>;
  others?: Reaction;
  right?: string | null;
  remedy?: StopRemedy;
  variants?: readonly (Partial<ProgramRow> & { when: string })[];
  varies?: boolean;
  isGuess?: boolean;
  catchesByItself?: boolean;
  source: string;
}

/** What a shell does in ways that differ between shells (data/shells.json). */
export interface Shell {
  name: string;
  handsOver?: readonly string[];
  unsure?: readonly string[];
  knowsSigPrefix?: boolean;
  on?: string;
  source: string;
}

export const shellsByName: ReadonlyMap<string, Shell> = new Map(
  (shellRows as Shell[]).map((shell) => [shell.name, shell]),
);
/** All rows but those of shells, in the order of the documentation. */
export const rows = [...wrapperRows, ...programRows] as readonly ProgramRow[];

/** By the first word; those that need more words come first. */
const byName = new Map<string, { row: ProgramRow; more: readonly string[] }[]>();
for (const row of rows)
  for (const match of row.match) {
    const [, first = '', rest = ''] = /^((?:(?:busy|toy)box )?\S+) ?(.*)$/.exec(match) ?? [];
    const more = rest === '' ? [] : rest.split(' ');
    const found = [...(byName.get(first) ?? []), { row, more }];
    byName.set(
      first,
      found.sort((one, other) => other.more.length - one.more.length),
    );
  }

/**
 * The row that the words of a command line mean; for a runtime that of the program it runs, if it has one. `box`: a program
 * of busybox or toybox if it has such a one.
 */
export function rowOf(words: readonly string[], box?: string): ProgramRow | undefined {
  const [path = ''] = words;
  const name = path.split('/').at(-1) ?? '';
  const names = [...(box === undefined ? [] : [`${box} ${name}`]), path, name, name.replace(/-?\d+(\.\d+)*$/, '')];
  const entry = names.flatMap((one) => byName.get(one)?.find(({ more }) => isStart(more, words)) ?? [])[0];
  if (entry === undefined) return undefined;
  const { row, more } = entry;
  const own = words.slice(1, row.next?.hidden || row.next?.script || !row.next ? undefined : afterOptions(row, words));
  const found = configured(row, [name, ...own].join(' '));
  const args = words.slice(more.length);
  // `python -m gunicorn`, `node node_modules/.bin/next start`, `ruby bin/puma`.
  const script = found.runs && args.slice(afterOptions({ next: { values: found.runs } }, args));
  return (script && rowOf(script.map((word) => word.replace(/\.__main__$/, '')))) ?? found;
}

const isStart = (more: readonly string[], words: readonly string[]): boolean =>
  more.every((word, index) => words[index + 1] === word);

/** With what the arguments change: by `variants`, and the limit that an option sets. */
function configured(row: ProgramRow, args: string): ProgramRow {
  let found = row.varies ? { ...row, isGuess: true } : row;
  for (const { when, ...rest } of row.variants ?? []) if (new RegExp(when).test(args)) found = { ...found, ...rest };
  const signals = Object.entries(found.signals ?? {}).map(([name, reaction]) => {
    const { from = '' } = reaction;
    const option = from.startsWith('-') ? from : '$^';
    const [, seconds] = new RegExp(`(?:^| )${option}[ =]?(\\d+(?:\\.\\d+)?)s?(?: |$)`).exec(args) ?? [];
    return [name, seconds === undefined ? reaction : { ...reaction, limit: Number(seconds) }] as const;
  });
  return { ...found, signals: Object.fromEntries(signals) };
}

/** The index of the first word that is no option, value of an option, assignment or operand of the wrapper itself. */
export function afterOptions({ next = {} }: Pick<ProgramRow, 'next'>, texts: readonly string[]): number {
  let [left, at] = [next.operands ?? 0, 1];
  for (; at < texts.length; at += 1) {
    const text = texts[at] ?? '';
    if (text === '--' && left === 0) return at + 1;
    if (/^-./.test(text)) at += next.values?.includes(text) ? 1 : 0;
    else if (!/^\w+=/.test(text) && (left -= 1) < 0) break;
  }
  return at;
}
