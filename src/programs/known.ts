/** What is known of a program, an image or a command line, whatever pod it runs in; and of all programs. Pure. */
import type { Link, StopBehaviour } from './behaviour.ts';
import { commandOfImage, stopSignalOfImage } from './images.ts';
import { rowOf, rows, shellsByName, type ProgramRow, type Reaction } from './rows.ts';
import { commandsIn } from './shell-script.ts';
import { stopBehaviour } from './stop-behaviour.ts';

/** One of them is set. */
export interface Asked {
  /** What a container runs as PID 1. */
  command?: readonly string[];
  /** It runs what the image says. */
  image?: string;
}

export interface KnownStop extends Asked {
  /** Of the program or of a part of the command line. */
  isKnown: boolean;
  /** The signal that stops it: SIGTERM, unless its image is known to have another STOPSIGNAL. */
  stopSignal: string;
  /** From PID 1 inwards, for the stop signal. */
  chain: readonly Link[];
  /** The stop signal first; another one only if something is known of it. */
  signals: readonly (Omit<StopBehaviour, 'chain'> & { signal: string })[];
}

/** A row of the list of all programs. */
export interface KnownProgram {
  name: string;
  /** The commands that mean it. */
  commands: readonly string[];
  kind: Link['kind'];
  /** As PID 1 with its defaults, by the name of the signal. */
  signals: Readonly<Record<string, Pick<Reaction, 'does' | 'note'> & { limitSeconds?: number; limitFrom?: string }>>;
  /** The signal that makes it finish its work, if not SIGTERM. */
  rightSignal?: string;
  /** It differs between versions, or is not measured. */
  probably: boolean;
  source: string;
}

/**
 * `words`: of the command line of podexit. One word can be an image or a quoted command line; `isCommand`: it is neither
 * an image nor to be split.
 */
export function askedOf(words: readonly string[], isCommand: boolean): Asked {
  const [word = '', ...others] = words;
  if (isCommand || others.length > 0) return { command: words };
  if (/\s/.test(word)) {
    const { commands, isPlain } = commandsIn(word);
    return { command: isPlain && commands.length === 1 && commands[0] ? commands[0] : ['sh', '-c', word] };
  }
  const isProgram = rowOf([word]) !== undefined || shellsByName.has(word);
  const isImage = isProgram
    ? /^[^./][^/]*\/|:/.test(word)
    : /^[^./].*[/:@]/.test(word) || commandOfImage(word).cmd !== undefined;
  return isImage ? { image: word } : { command: [word] };
}

const defaultGraceSeconds = 30;
const asked = ['TERM', 'INT', 'QUIT', 'HUP', 'USR1', 'USR2', 'WINCH', 'RTMIN+3'].map((name) => `SIG${name}`);

export function knownStop(what: Asked): KnownStop {
  const stopSignal = stopSignalOfImage(what.image) ?? 'SIGTERM';
  const of = (signal: string): StopBehaviour => stopBehaviour(what, signal, defaultGraceSeconds);
  const { chain, rightSignal } = of(stopSignal);
  const signals = [...new Set([stopSignal, ...(rightSignal ? [rightSignal] : []), ...asked])].flatMap((signal) => {
    const { chain: _, ...behaviour } = of(signal);
    return signal === stopSignal || behaviour.handles !== 'unknown' ? [{ signal, ...behaviour }] : [];
  });
  return { ...what, isKnown: chain.some(({ source }) => source !== undefined), stopSignal, chain, signals };
}

/** Shells are in it too, whose answers depend on their scripts. */
export const allPrograms = (): KnownProgram[] =>
  [
    ...[...shellsByName.values()].map((shell): ProgramRow => ({ ...shell, kind: 'shell', match: [shell.name] })),
    ...rows,
  ].map(({ name, match, kind = 'program', signals = {}, right, varies, isGuess, source }) => ({
    name,
    commands: match,
    kind,
    signals: Object.fromEntries(
      Object.entries(signals).map(([signal, { does, note, limit, from }]) => [
        `SIG${signal}`,
        { does, note, limitSeconds: limit, limitFrom: from },
      ]),
    ),
    rightSignal: right ? `SIG${right}` : undefined,
    probably: varies === true || isGuess === true || !source.startsWith('measured'),
    source,
  }));
