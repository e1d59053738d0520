/** What is known of programs, images and signals, as data: the rows of data/*.json, and which row a command line or image means. */
import type { Does, Link, StopRemedy } from './behaviour.ts';
import imageData from './data/images.json' with { type: 'json' };
import programRows from './data/programs.json' with { type: 'json' };
import shells from './data/shells.json' with { type: 'json' };
import signalNumbers from './data/signals.json' with { type: 'json' };
import wrapperRows from './data/wrappers.json' with { type: 'json' };
import { secondsOf } from './shell-words.ts';

/** What a program does with one signal. data/schema.json describes the fields, also of the other types here. */
export interface Reaction extends Numbers, Texts, Flags {
  does: Does;
  inGroup?: Reaction;
  asChild?: Reaction;
  remedy?: StopRemedy;
  /** Only of a shell's script: exit codes of any stop; empty: not known. */
  codes?: readonly number[];
}
type Numbers = Partial<Record<'code' | 'childCode' | 'cutCode' | 'limitSeconds', number>>;
type Flags = Partial<Record<'toGroup' | 'isSent' | 'makesIgnored' | 'isTrap', boolean>>;
type Texts = Partial<Record<'limitFrom' | 'sends' | 'note' | 'because' | 'decidedBy', string>>;
type Marks = Partial<Record<'isGuess' | 'catchesByItself', boolean> & Record<'runs' | 'argumentsIn', string[]>>;

export interface ProgramRow extends Marks, Record<'name' | 'source', string> {
  kind?: Link['kind'];
  language?: string;
  match: readonly string[];
  next?: Partial<Record<'line' | 'script' | 'as', string> & { values: string[]; operands: unknown; hidden: boolean }>;
  signals?: Readonly<Record<string, Reaction>>;
  others?: Reaction;
  right?: string | null;
  remedy?: StopRemedy;
  variants?: readonly (Partial<ProgramRow> & { when?: string; where?: string })[];
}

export type Shell = (typeof shells)[number];

export const shellsByName = new Map(shells.map((shell) => [shell.name, shell]));
export const rows = [...shells, ...wrapperRows, ...programRows] as readonly ProgramRow[];

const byMatch = new Map(rows.flatMap((row) => row.match.map((match) => [match, row] as const)));

/** The row that a command line means; of a runtime that of its program. `around`: image, then NAME=VALUE lines. `box`: busybox or toybox. */
export function rowOf(words: readonly string[], around = '', box?: string): ProgramRow | undefined {
  const [path = '', second = ''] = words;
  const name = path.split('/').at(-1)?.slice(-100) ?? '';
  const names = [...(box === undefined ? [] : [`${box} ${name}`]), path, name, name.replace(/-?\d+(\.\d+)*$/, '')];
  const [row] = names.flatMap((one) => byMatch.get(`${one} ${second.slice(0, 100)}`) ?? byMatch.get(one) ?? []);
  if (!row) return undefined;
  const own = words.slice(1, row.next?.hidden || row.next?.script || !row.next ? undefined : afterOptions(row, words));
  const added = row.argumentsIn?.map((one) => new RegExp(`^${one}=(.*)`, 'm').exec(around)?.[1] ?? '') ?? [];
  const found = configured(row, [name, ...own, ...added].join(' ').trim().slice(0, 20_000), around);
  // `python -m gunicorn`, `node node_modules/.bin/next start`, `ruby bin/puma`.
  const script = found.runs && words.slice(afterOptions({ next: { values: found.runs } }, words));
  const inside = rowOf(script?.map((word) => word.replace(/\.__main__$/, '')) ?? [], around);
  return inside?.language !== undefined && inside.language === found.language ? inside : found;
}

/** With what arguments, variables and the image change: by `variants`, and the limit that one of them sets. */
function configured(row: ProgramRow, args: string, around: string): ProgramRow {
  let found = row;
  for (const { when = '', where = '', ...rest } of row.variants ?? [])
    if (new RegExp(when).test(args) && new RegExp(where, 'm').test(around)) found = { ...found, ...rest };
  const signals = Object.entries(found.signals ?? {}).map(([name, reaction]) => {
    const set = (reaction.limitFrom ?? '').split(' + ').map((options) => secondsSet(options, `${args}\n${around}`));
    const [own = reaction.limitSeconds ?? 0, before = 0] = set;
    return [name, { ...reaction, limitSeconds: own + before || undefined }] as const;
  });
  return { ...found, signals: Object.fromEntries(signals) };
}

/** What an option in the first line or a variable in the others sets, and a property `a.b-c` with a unit. NaN: not readable. */
function secondsSet(from: string, lines: string): number | undefined {
  const property = /^[a-z]+(\.[a-z-]+)+$/i.test(from) && `(?:-D|--)?${from.replace(/[.-]/g, '[._-]?')}`;
  const names = from.match(/(?<!\S)-\S+|\b[A-Z][A-Z\d]*_[A-Z_]+\b|\b[a-z]+[A-Z]\w+/g)?.join('|') ?? '$^';
  const set = new RegExp(`(?:^(?:.*? )?|\\n)(?:${property || names})(?:[ =]|(?=\\d))(\\S+)`, 'i').exec(lines)?.[1];
  const unit = property ? '?' : from.includes(', in ms') ? 'ms' : '';
  return set === undefined ? undefined : (secondsOf(/^\d+$/.test(set) ? set + unit : set) ?? NaN);
}

/** The index of the first word that is no option, value of an option, assignment or operand of the wrapper itself. */
export function afterOptions({ next = {} }: Pick<ProgramRow, 'next'>, texts: readonly string[]): number {
  let [left, at] = [Number(next.operands ?? 0), 1];
  for (; at < texts.length; at += 1) {
    const text = texts[at] ?? '';
    if (text === '--' && !(left > 0)) return at + 1;
    if (/^-./.test(text)) at += next.values?.includes(text) ? 1 : 0;
    else if (!/^\w+=/.test(text) && (left -= 1) < 0) break;
  }
  return at;
}

/** `docker.io/library/nginx` and `1.27` of `docker.io/library/nginx:1.27@sha256:…`. */
const partsOf = (image: string): string[] => /^([^@]*?)(?::([^/:@]*))?(?:@|$)/.exec(image)?.slice(1) ?? [];

export const imageName = (image: string): string => (partsOf(image)[0] ?? '').split('/').at(-1)?.toLowerCase() ?? '';

/** What its Dockerfile says, by its name on Docker Hub or in a mirror of that: another registry's `nginx` may be anything. */
export function rowOfImage(image: string) {
  const hub = /^((index\.)?docker\.io\/|mirror\.gcr\.io\/|public\.ecr\.aws\/docker\/(?=library\/))?(library\/)?/;
  const [name, tag = ''] = partsOf(image.replace(hub, ''));
  return imageData.images.find((row) => row.image === name && new RegExp(row.tag ?? '').test(tag));
}

/** The shells that /bin/sh may be: by the tag, else by the name, else by the Dockerfile of a well-known image and a usual tag. */
export function shellsOf(image: string): readonly string[] {
  const shown = [partsOf(image)[1] ?? '', image.split('@', 1)[0]?.slice(-300) ?? ''];
  const found = shown.flatMap((text) => imageData.bases.find(({ shows }) => new RegExp(shows).test(text)) ?? [])[0];
  const isUsual = shown[0]?.split(/[\d._+-]+/).every((word) => ['', ...imageData.usualWords].includes(word));
  const base = found ?? imageData.bases.find(({ name }) => isUsual && name === rowOfImage(image)?.base);
  return base ? [base.sh] : [...new Set(imageData.bases.map(({ sh }) => sh))];
}

/** The STOPSIGNAL of a well-known image; undefined for SIGTERM and for other images: the API does not show it (SIGNALS.md §2 S8). */
export const stopSignalOfImage = (image = ''): string | undefined => rowOfImage(image)?.stop;

/** The number on Linux (signal(7)) of a signal that the API names: `SIGTERM`, `SIGRTMIN+3`. */
export const numberOfSignal = (name = ''): number | undefined => new Map(Object.entries(signalNumbers)).get(name);

/** The signal that ends a process with this exit code: `SIGTERM` for 143. Undefined if none, or from 34 on a real-time one. */
export const signalOfExitCode = (code: number): string | undefined =>
  code - 128 < 34 ? Object.entries(signalNumbers).find(([, number]) => number === code - 128)?.[0] : undefined;
