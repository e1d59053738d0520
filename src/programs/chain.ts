/**
 * Follows a command line from PID 1 inwards. Each link (shell, wrapper, program) turns the effect that the signal has on
 * the next one into the effect on itself; `links.ts` has the rule of each kind of link.
 */
import type { StopBehaviour as Effect } from './behaviour.ts';
import type { Base } from './images.ts';
import { agreed, endsByItself, linkEffect, scriptUnknown, unknownApp, type Context } from './links.ts';
import { afterOptions, rowOf, shellsByName, type ProgramRow, type Shell } from './rows.ts';
import { shellArguments } from './shell-arguments.ts';
import { readScript } from './shell-script.ts';
import { isSleep, standingsOf, type Standing } from './shell-standing.ts';
import { plainWord, type Word } from './shell-words.ts';
import { shellReaction } from './shell-signal.ts';

const maxLinks = 24;
/** Of a longer command line the rest is not read. */
export const maxWords = 256;

export function effectOf(all: readonly Word[], context: Context): Effect {
  const words = all.slice(0, maxWords);
  const inner = { ...context, depth: context.depth + 1 };
  const [first] = words;
  const name = nameOf(first);
  if (first === undefined || context.depth > maxLinks) return unknownApp('the application', context);
  if (name === 'busybox' || name === 'toybox') return appletEffect(words, inner);
  const kinds = shellsNamed(name, context.base);
  if (kinds.length > 0)
    return agreed(kinds.map((shell) => [shellText(name, shell), ofShell(shell, words.slice(1), inner)]));
  const script = context.scripts.get(first.text);
  if (script !== undefined) return ofScriptFile(first, script, words.slice(1), inner);
  const texts = words.map(({ text }) => text);
  const row = appletRow(first.text, texts.slice(1), context) ?? rowOf(texts);
  if (row) return ofRow(row, words, inner);
  return /\.sh$|entrypoint/.test(name) ? scriptUnknown(name, context) : unknownApp(name, context);
}

const nameOf = (word: Word | undefined): string => {
  const name = word?.text.split('/').at(-1) ?? '';
  return word?.isDynamic && /[$`*?(]/.test(name) ? '' : name;
};

/** An applet of busybox: a shell, or a row under the name `busybox NAME`. */
function appletEffect(words: readonly Word[], context: Context): Effect {
  const [box, applet, ...others] = words;
  const name = applet?.text ?? 'sh';
  const ash = shellsByName.get('ash');
  if (ash && /^(a|hu)?sh$/.test(name)) return ofShell(ash, others, context);
  const row = rowOf([`${nameOf(box)} ${name}`, ...others.map(({ text }) => text)]);
  if (row === undefined) return effectOf(words.slice(1), context);
  return ofRow(row, words.slice(1), context);
}

/** On Alpine, and within busybox's shell, a name without a folder means busybox's own program, if it has one. */
const appletRow = (name: string, args: readonly string[], { base }: Context): ProgramRow | undefined =>
  base.name === 'alpine' || base.name === 'busybox' ? rowOf([`busybox ${name}`, ...args]) : undefined;

/** `sh` is another shell on each base system. Empty: not a shell. */
function shellsNamed(name: string, base: Base): Shell[] {
  const named = name.replace(/^-/, '');
  const names =
    named === 'login' ? ['bash', ...base.sh] : named === 'sh' ? base.sh : named === 'ksh' ? ['ksh93', 'mksh'] : [named];
  return names.flatMap((one) => shellsByName.get(one) ?? []);
}

const shellText = (name: string, shell: Shell): string =>
  name === shell.name ? shell.name : `${name} is ${shell.name} (${shell.on ?? 'elsewhere'})`;

function ofShell(shell: Shell, words: readonly Word[], outer: Context): Effect {
  const context = shell.name === 'ash' ? { ...outer, base: { name: 'busybox', sh: ['ash'] } } : outer;
  const start = shellArguments(words);
  const { line, file } = start;
  if (line !== undefined) return ofScript(shell, line, start, context);
  if (file === undefined) {
    const reaction = shellReaction(shell, undefined, context, start.isInteractive);
    return linkEffect({ ...shell, kind: 'shell' }, reaction, context, () => endsByItself(shell.name));
  }
  const text = context.scripts.get(file.text);
  if (text === undefined) return scriptUnknown(nameOf(file), context);
  return ofScript(shell, { text, isDynamic: false, isQuoted: true }, start, context);
}

function ofScriptFile(path: Word, script: string, args: readonly Word[], context: Context): Effect {
  const interpreter = /^#!\s*([^\n]+)/.exec(script)?.[1]?.trim().split(/\s+/) ?? ['/bin/sh'];
  return effectOf([...interpreter.map(plainWord), path, ...args], context);
}

function ofScript(shell: Shell, line: Word, start: ReturnType<typeof shellArguments>, context: Context): Effect {
  const variables = new Map(context.env);
  const script = line.isDynamic && line.text.startsWith('$') ? undefined : readScript(line.text);
  const ways = script ? standingsOf(script, shell, variables) : [];
  if (ways.length === 0) return scriptUnknown('its script', context);
  return agreed(ways.map((one) => [labelOf(one), ofStanding(shell, one, variables, start, context)]));
}

function ofStanding(
  shell: Shell,
  one: Standing,
  variables: ReadonlyMap<string, Word>,
  start: ReturnType<typeof shellArguments>,
  context: Context,
): Effect {
  const forms = new Set([...one.forms, ...(start.file === undefined ? [] : ['file'])]);
  const standing = {
    ...one,
    forms,
    words: expanded(one.words, start.args, variables),
    stopsOnError: one.stopsOnError || start.stopsOnError,
  };
  const reaction = shellReaction(shell, standing, context, start.isInteractive);
  const { job, kind } = standing;
  const row = { ...shell, kind: 'shell' as const, isGuess: one.isGuess };
  if (kind === 'over')
    return linkEffect(row, { does: 'execs', text: 'runs its script to the end' }, context, () =>
      endsByItself(shell.name),
    );
  const isJob = job !== undefined && reaction.does !== 'execs' && (kind === 'wait' || isSleep(standing.words));
  const command = isJob ? expanded(job.words, start.args, variables) : standing.words;
  const effect = linkEffect(
    row,
    reaction,
    context,
    reaction.does === 'cuts' ? undefined : (inner) => effectOf(command, { ...inner, env: variables }),
  );
  // `app & exec sleep infinity`: the application is a child of what gets the signal.
  const isKeeper = reaction.does === 'execs' && job !== undefined && effect.handles === 'no';
  return isKeeper ? { ...effect, reachesApp: 'no' } : effect;
}

const labelOf = ({ words, kind }: Standing): string =>
  `${kind === 'became' ? 'it becomes' : 'it runs'} ${nameOf(words[0]) || 'a command that is not visible here'}`;

/** `"$@"` and `$1` by the arguments of the script, `$NAME` by its assignments and the container's variables. */
function expanded(words: readonly Word[], args: readonly Word[], variables: ReadonlyMap<string, Word>): Word[] {
  return words.flatMap((word): Word[] => {
    if (!word.isDynamic) return [word];
    if (/^\$(\{[@*]\}|[@*])$/.test(word.text)) return [...args];
    const text = word.text.replace(
      /\$(?:\{(\w+)\}|(\w+))/g,
      (whole, braced: string | undefined, bare: string | undefined) => {
        const name = braced ?? bare ?? '';
        const value = /^\d$/.test(name) ? args[Number(name) - 1] : variables.get(name);
        return value === undefined || value.isDynamic ? whole : value.text;
      },
    );
    const isDynamic = /[$`*?]/.test(text);
    return isDynamic || word.isQuoted ? [{ ...word, text, isDynamic }] : text.split(/\s+/).map(plainWord);
  });
}

function ofRow(row: ProgramRow, words: readonly Word[], context: Context): Effect {
  const reaction = row.signals?.[context.signal] ?? row.others ?? { does: row.next ? 'drops' : 'unknown' };
  if (!row.next) return linkEffect(row, reaction, context);
  const next = nextOf(row, words);
  // A script of package.json may begin with exec.
  const isGuess = row.isGuess === true || row.next.script !== undefined;
  return linkEffect({ ...row, isGuess }, reaction, context, (inner) =>
    next.length > 0 ? effectOf(next, inner) : unknownApp('the application', inner),
  );
}

/** The command that a wrapper starts. Empty: it is not visible here. */
function nextOf({ next = {} }: ProgramRow, words: readonly Word[]): Word[] {
  const texts = words.map(({ text }) => text);
  const start = (from: number) => words.slice(from);
  const dashes = texts.indexOf('--');
  const line = next.line === undefined ? -1 : texts.slice(0, dashes === -1 ? undefined : dashes).indexOf(next.line);
  if (next.hidden) return [];
  if (next.script !== undefined) return [next.script, '-c', 'script-of-package.json'].map(plainWord);
  if (line > 0 && line < afterOptions(next, texts)) {
    const chosen = texts[texts.findIndex((text) => text === '-s' || text === '--shell') + 1];
    const shell = next.lineShell === 'login' && chosen !== texts[0] ? chosen : next.lineShell;
    return [plainWord(shell ?? 'sh'), plainWord('-c'), ...words.slice(line + 1, line + 2)];
  }
  if (next.after)
    return start(texts.findIndex((text, index) => next.after?.includes(texts[index - 1] ?? '') && text !== ''));
  if (next.afterDashes !== undefined) return [plainWord(next.afterDashes), ...start(texts.indexOf('--') + 1)];
  const found = start(afterOptions(next, texts));
  if (next.split !== undefined && texts.includes(next.split)) {
    const at = texts.indexOf(next.split) + 1;
    return [...(texts[at] ?? '').slice(0, 4096).split(/\s+/).map(plainWord), ...start(at + 1)];
  }
  return next.isLine && found.length > 0 ? ['sh', '-c', found.map(({ text }) => text).join(' ')].map(plainWord) : found;
}
