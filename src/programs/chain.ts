/** Follows a command line from PID 1 inwards; by the rules of links.ts, the effect on a link follows from that on the next. */
import type { StopBehaviour as Effect } from './behaviour.ts';
import { agreed, linkEffect, scriptUnknown, unknownApp, type Context } from './links.ts';
import traps from './data/traps.json' with { type: 'json' };
import { afterOptions, rowOf, shellsByName, type ProgramRow, type Shell } from './rows.ts';
import { shellArguments } from './shell-arguments.ts';
import { expanded, inlined, readScript, textsOf, type Script } from './shell-script.ts';
import { sleepOf, shellReaction, standingsOf, type Standing } from './shell.ts';
import { plainWord, type Word } from './shell-words.ts';

const most = { links: 24, words: 256, characters: 4096 };

export function effectOf(all: readonly Word[], outer: Context): Effect {
  const box = /^(busy|toy)box$/.exec(nameOf(all[0]))?.[0];
  const words = all.slice(all.length > 1 && box !== undefined ? 1 : 0, most.words);
  const context = { ...outer, depth: outer.depth + 1 };
  const [first] = words;
  const name = nameOf(first);
  if (!first || first.text.length > most.characters || context.depth > most.links) return unknownApp('', context);
  const shells = shellsNamed(name, box === undefined ? context.sh : ['ash']);
  if (shells.length > 0) return ofShells(name, shells, words, context);
  const script = context.scripts?.get(first.text);
  if (script !== undefined) {
    const interpreter = /^#!\s*([^\n]+)/.exec(script)?.[1]?.trim().split(/\s+/) ?? ['/bin/sh'];
    return effectOf([...interpreter.map(plainWord), ...words], context);
  }
  // Where /bin/sh is busybox's, a name without a folder means busybox's own program, if it has one.
  const isBusybox = context.sh.join() === 'ash' && !first.text.includes('/');
  const row = rowOf(textsOf(words), context.around, box ?? (isBusybox ? 'busybox' : undefined));
  if (row) return ofRow(row, words, context);
  return /\.sh$|entrypoint/.test(name) ? scriptUnknown(name, context) : unknownApp(name, context);
}

const nameOf = (word: Word | undefined): string => {
  const name = word?.text.split('/').at(-1) ?? '';
  return /\s/.test(name) || (word?.isDynamic && /[$`*?(]/.test(name)) ? '' : name;
};

/** `sh` is another shell on each base system. Empty: not a shell. */
function shellsNamed(name: string, sh: readonly string[]): Shell[] {
  const named = name.replace(/^-/, '');
  const others = new Map(Object.entries({ sh, login: ['bash', ...sh], ksh: ['ksh93', 'mksh'] }));
  return (others.get(named) ?? [named]).flatMap((one) => shellsByName.get(one) ?? []);
}

type Start = ReturnType<typeof shellArguments>;

function ofShells(name: string, shells: readonly Shell[], words: readonly Word[], context: Context): Effect {
  const start = shellArguments(words.slice(1));
  const { line, file } = start;
  const text = file ? context.scripts?.get(file.text) : line?.text;
  if (file && text === undefined) return scriptUnknown(nameOf(file), context);
  const read = line?.isDynamic && text?.startsWith('$') ? undefined : readScript(text ?? '');
  const script = read && inlined(read);
  const label = (shell: Shell): string => `${name} is ${shell.name} (${shell.on ?? 'elsewhere'})`;
  const called = shells.length > 1 ? { name } : {};
  return agreed(shells.map((shell) => [label(shell), ofShell({ ...shell, ...called }, script, start, context)]));
}

function ofShell(shell: Shell, script: Script | undefined, start: Start, outer: Context): Effect {
  const context = shell.on?.startsWith('Alpine') ? { ...outer, sh: ['ash'] } : outer;
  const ways = script ? standingsOf(script, shell) : [];
  if (ways.length === 0) return { ...scriptUnknown('its script', context), ...traps.notRead };
  const label = ({ words, kind }: Standing): string =>
    `${kind === 'became' ? 'it becomes' : 'it runs'} ${nameOf(words[0]) || 'a command that is not visible here'}`;
  return agreed(ways.map((one) => [label(one), ofStanding(shell, one, start, context)]));
}

function ofStanding(shell: Shell, one: Standing, start: Start, context: Context): Effect {
  const words = expanded(one.words, start.args);
  const forms = new Set([...one.forms, ...start.forms]);
  const standing = { ...one, words, forms, stopsOnError: one.stopsOnError || start.stopsOnError };
  const reaction = shellReaction(shell, standing, context);
  const { does } = reaction;
  const job = does !== 'execs' && (one.kind === 'wait' || sleepOf(words) !== undefined) ? one.jobs.at(-1) : undefined;
  const next = (inner: Context): Effect => effectOf(job ? expanded(job.words, start.args) : words, inner);
  return linkEffect({ ...shell, kind: 'shell' }, reaction, context, /cuts|drains/.test(does) ? undefined : next);
}

function ofRow(row: ProgramRow, words: readonly Word[], context: Context): Effect {
  const alone = row.signals?.[context.signal] ?? row.others ?? { does: row.next ? 'drops' : 'unknown' };
  const reaction = { ...alone, ...(context.toGroup && alone.inGroup), ...(!context.isPid1 && alone.asChild) };
  return linkEffect(row, reaction, context, row.next && ((inner) => effectOf(nextOf(row, words), inner)));
}

/** The command that a wrapper starts. Empty: it is not visible here. */
function nextOf({ next = {} }: ProgramRow, words: readonly Word[]): readonly Word[] {
  const { hidden, script, line, as } = next;
  const texts = words.map(({ text }) => text);
  if (hidden) return [];
  if (script !== undefined) return [script, '-c', 'script-of-package.json'].map(plainWord);
  const end = afterOptions({ next }, texts);
  const option = line === undefined ? -1 : texts.findIndex((text) => /^(-c|--command|--session-command)$/.test(text));
  if (as !== undefined && !rowOf(texts.slice(end)) && !/^$|sh$|entrypoint/.test(nameOf(words[end])))
    return [plainWord(as), ...words.slice(end)];
  if (option < 0 || option >= end) return words.slice(end);
  const shell = texts.find((_, at) => /^(-s|--shell)$/.test(texts[at - 1] ?? '')) ?? line ?? 'sh';
  return [plainWord(shell), plainWord('-c'), ...words.slice(option + 1, option + 2)];
}
