/**
 * What the main process of a container does with its stop signal. Follows its command line from PID 1 inwards; by the rules of
 * links.ts, the effect on a link follows from that on the next. Pure.
 */
import type { ProgramContainer, StopBehaviour } from './behaviour.ts';
import { rowOfImage, shellsOf, rowOf, afterOptions, shellsByName, stopSignalOfImage } from './rows.ts';
import type { ProgramRow, Shell } from './rows.ts';
import { scriptUnknown, agreed, linkEffect, unknownApp, type Context } from './links.ts';
import { plainWord, type Word } from './shell-words.ts';
import traps from './data/traps.json' with { type: 'json' };
import { argumentsIn, shellArguments, expanded, inlined, readScript, textsOf, commandsIn } from './shell-script.ts';
import type { Script } from './shell-script.ts';
import { sleepOf, shellReaction, standingsOf, type Standing } from './shell.ts';

/** `signal` with or without SIG; `graceSeconds`: from it to SIGKILL. Behind an unknown part, which `decidedBy` names, all is unknown. */
export function stopBehaviour(container: ProgramContainer, signal: string, graceSeconds: number): StopBehaviour {
  const { command = [], args = [], image: whole = '', scripts, sharesProcesses, env = [] } = container;
  const image = whole.slice(0, 1000);
  const name = signal.replace(/^SIG/, '').toUpperCase();
  const itself = { isPid1: !sharesProcesses, isIgnored: false, toGroup: false, depth: 0, graceSeconds, scripts };
  const context = { ...itself, signal: name, sh: shellsOf(image), around: [image, ...env].join('\n').slice(0, 20_000) };
  // Of each word more than a script that can be understood has.
  const words = wordsOf(command, args, image)?.map((word) => plainWord(word.slice(0, 20_000)));
  if (words) return effectOf(words, context);
  const entry = "the image's ENTRYPOINT";
  return {
    ...scriptUnknown(entry, context),
    because: `${entry} is not visible here${args.length > 0 ? ', and it comes before the arguments' : ''}`,
    remedy: undefined,
    decidedBy: `${entry}: an init or a program that handles SIG${name} can stop in time, a shell that stays PID 1 cannot`,
  };
}

/** Kubernetes' rule: `command` replaces ENTRYPOINT and CMD, `args` replaces CMD. Undefined: the image decides. */
function wordsOf(command: readonly string[], args: readonly string[], image: string): readonly string[] | undefined {
  if (command.length > 0) return [...command, ...args];
  const { entry, cmd = [] }: { entry?: readonly string[]; cmd?: readonly string[] } = rowOfImage(image) ?? {};
  if (!entry) return undefined;
  // Before options, the entry points of official images put the name of their program, which is the first word of CMD.
  const isOption = /^[^-]/.test(cmd[0] ?? '') && args[0]?.startsWith('-');
  const before = isOption ? cmd.slice(0, Math.max(1, cmd.indexOf(args[0] ?? ''))) : [];
  return [...entry, ...before, ...(args.length > 0 ? args : cmd)];
}

/**
 * How a container ended by its stop signal. `isNormal`: certainly as this program does when it stops; absent: it ran until
 * SIGKILL, as it ignores the signal, and `advice` says what would help.
 */
export function knownEnd({ program = '', image }: { program?: string; image?: string }, signal = 'SIGTERM', code = 0) {
  // Its arguments are not known; a manager of scripts needs one.
  const command = [program, 'start'];
  const { reachesApp, handles, exitCodes, because, ...found } = stopBehaviour({ command, image }, signal, 30);
  const codes = rowOf(command)?.variants?.flatMap(({ signals }) => signals?.[signal.replace(/^SIG/, '')]?.code ?? []);
  if (handles === 'no' && reachesApp === 'yes' && code === 137) return { because, advice: found.remedy?.text };
  if (program === '' || handles !== 'yes' || codes?.some((one) => one !== code)) return undefined;
  const isKnown = !found.probably && reachesApp === 'yes' && found.chain.at(-1)?.kind === 'program';
  return isKnown && exitCodes.good.includes(code) ? { isNormal: true, because } : undefined;
}

/** What a container runs as PID 1, or the image that decides it: one of them is set. */
type Asked = { command?: readonly string[]; image?: string };
export type KnownStop = ReturnType<typeof knownStop>;

/** One word can be an image or a quoted command line; `isCommand`: it is neither an image nor to be split. */
export function askedOf(words: readonly string[], isCommand: boolean): Asked {
  const [word = '', ...others] = words;
  if (isCommand || others.length > 0) return { command: words };
  const { commands, isPlain } = commandsIn(word);
  if (/\s/.test(word)) return { command: (isPlain && commands.length === 1 && commands[0]) || ['sh', '-c', word] };
  return /^[^./].*[/:@]/.test(word) || (!rowOf(words) && rowOfImage(word)?.cmd) ? { image: word } : { command: [word] };
}

/** For the default grace period of 30 s. */
export function knownStop(what: Asked) {
  const stopSignal = stopSignalOfImage(what.image) ?? 'SIGTERM';
  const { chain } = stopBehaviour(what, stopSignal, 30);
  const all = new Set([stopSignal, ...'SIGTERM SIGINT SIGQUIT SIGHUP SIGUSR1 SIGUSR2 SIGWINCH SIGRTMIN+3'.split(' ')]);
  const signals = [...all].map((signal) => ({ signal, ...stopBehaviour(what, signal, 30), chain: undefined }));
  return {
    ...what,
    isKnown: chain.some(({ source }) => source !== undefined),
    /** SIGTERM, unless the image is known to have another STOPSIGNAL. */
    stopSignal,
    chain,
    /** The stop signal first; another one only if something is known of it. */
    signals: signals.filter(({ signal, handles }) => signal === stopSignal || handles !== 'unknown'),
  };
}

const most = { links: 24, words: 256, characters: 4096 };

function effectOf(all: readonly Word[], outer: Context): StopBehaviour {
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

type Start = Omit<ReturnType<typeof shellArguments>, 'line' | 'file'>;

function ofShells(name: string, shells: readonly Shell[], words: readonly Word[], context: Context): StopBehaviour {
  const { line, file, ...start } = shellArguments(words.slice(1));
  const text = file ? context.scripts?.get(file.text) : line?.text;
  if (file && text === undefined) return scriptUnknown(nameOf(file), context);
  const isShown = text !== undefined && !(line?.isDynamic && text.startsWith('$'));
  const read = isShown ? readScript(text) : undefined;
  const script = read && inlined(read);
  const label = (shell: Shell): string => `${name} is ${shell.name} (${shell.on ?? 'elsewhere'})`;
  const called = shells.length > 1 ? { name } : {};
  const known = { ...start, args: argumentsIn(script?.commands ?? [], start.args) };
  return agreed(shells.map((shell) => [label(shell), ofShell({ ...shell, ...called }, script, known, context)]));
}

function ofShell(shell: Shell, script: Script | undefined, start: Start, outer: Context): StopBehaviour {
  const context = shell.on?.startsWith('Alpine') ? { ...outer, sh: ['ash'] } : outer;
  const ways = script ? standingsOf(script, shell) : [];
  if (ways.length === 0) return { ...scriptUnknown('its script', context), ...traps.notRead };
  const label = ({ words, kind }: Standing): string =>
    `${kind === 'became' ? 'it becomes' : 'it runs'} ${nameOf(words[0]) || 'a command that is not visible here'}`;
  return agreed(ways.map((one) => [label(one), ofStanding(shell, one, start, context)]));
}

function ofStanding(shell: Shell, one: Standing, start: Start, context: Context): StopBehaviour {
  const words = expanded(one.words, start.args);
  const forms = new Set([...one.forms, ...start.forms]);
  const standing = { ...one, words, forms, stopsOnError: one.stopsOnError || start.stopsOnError };
  const reaction = shellReaction(shell, standing, context);
  const { does } = reaction;
  const job = does !== 'execs' && (one.kind === 'wait' || sleepOf(words) !== undefined) ? one.jobs.at(-1) : undefined;
  const next = (inner: Context): StopBehaviour => effectOf(job ? expanded(job.words, start.args) : words, inner);
  return linkEffect({ ...shell, kind: 'shell' }, reaction, context, /cuts|drains/.test(does) ? undefined : next);
}

function ofRow(row: ProgramRow, words: readonly Word[], context: Context): StopBehaviour {
  const alone = row.signals?.[context.signal] ?? row.others ?? { does: row.next ? 'drops' : 'unknown' };
  const reaction = { ...alone, ...(context.toGroup && alone.inGroup), ...(!context.isPid1 && alone.asChild) };
  return linkEffect(row, reaction, context, row.next && ((inner) => effectOf(nextOf(row, words), inner)));
}

/** The command that a wrapper starts. Empty: it is not visible here. */
function nextOf({ next = {} }: ProgramRow, words: readonly Word[]): readonly Word[] {
  const { hidden, script, line, as } = next;
  const texts = words.map(({ text }) => text);
  if (hidden) return [];
  if (script !== undefined) return [script, '-c', "'the script in package.json'"].map(plainWord);
  const end = afterOptions({ next }, texts);
  const option = line === undefined ? -1 : texts.findIndex((text) => /^(-c|--command|--session-command)$/.test(text));
  if (as !== undefined && !rowOf(texts.slice(end)) && !/^$|sh$|entrypoint/.test(nameOf(words[end])))
    return [plainWord(as), ...words.slice(end)];
  if (option < 0 || option >= end) return words.slice(end);
  const shell = texts.find((_, at) => /^(-s|--shell)$/.test(texts[at - 1] ?? '')) ?? line ?? 'sh';
  return [plainWord(shell), plainWord('-c'), ...words.slice(option + 1, option + 2)];
}
