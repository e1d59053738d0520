/** What is known of a program, an image or a command line, whatever pod it runs in; and of all programs. Pure. */
import { rowOfImage, stopSignalOfImage } from './images.ts';
import { rowOf, rows } from './rows.ts';
import { commandsIn } from './shell-script.ts';
import { stopBehaviour } from './stop-behaviour.ts';

/** What a container runs as PID 1, or the image that decides it: one of them is set. */
export type Asked = { command?: readonly string[]; image?: string };
export type KnownStop = ReturnType<typeof knownStop>;
export type KnownProgram = ReturnType<typeof allPrograms>[number];

/** One word can be an image or a quoted command line; `isCommand`: it is neither an image nor to be split. */
export function askedOf(words: readonly string[], isCommand: boolean): Asked {
  const [word = '', ...others] = words;
  if (isCommand || others.length > 0) return { command: words };
  const { commands, isPlain } = commandsIn(word);
  if (/\s/.test(word)) return { command: (isPlain && commands.length === 1 && commands[0]) || ['sh', '-c', word] };
  const isImage = /^[^./].*[/:@]/.test(word) || (!rowOf([word]) && rowOfImage(word)?.cmd);
  return isImage ? { image: word } : { command: [word] };
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

/** As PID 1 with their defaults. Shells are in it too, whose answers depend on their scripts. */
export const allPrograms = () =>
  rows.map(({ name, match, kind = 'program', signals = {}, right, isGuess, source }) => ({
    name,
    commands: match,
    kind,
    signals: Object.fromEntries(Object.entries(signals).map(([signal, reaction]) => [`SIG${signal}`, reaction])),
    rightSignal: right ? `SIG${right}` : undefined,
    probably: isGuess === true || !source.startsWith('measured'),
    source,
  }));
