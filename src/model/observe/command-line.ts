/**
 * Predicts from a container's command line how its PID 1 reacts to the stop signal. This is no full shell parser: in
 * doubt the answer is `unknown` or `depends`, never `handles`. Rules of PID 1: SIGNALS.md §5 "Exit codes".
 */
import { numberOfSignal } from '../../programs/signals.ts';

/** `command` replaces the image's ENTRYPOINT, `args` its CMD. If one is absent, the image's applies (unknown). */
export interface CommandLine {
  command: readonly string[];
  args: readonly string[];
  /** Recordings keep no command, only this note about it. */
  noted?: 'shell' | 'ignores' | 'handles';
}

export type SignalHandling =
  /** It has a handler, which may take any time. */
  | { kind: 'handles'; how: string }
  /** The stop signal has no effect; `because` quotes the command. */
  | { kind: 'ignores'; because: string }
  /** A shell that does not forward signals to its child. */
  | { kind: 'shell'; because: string }
  /** Not visible here: it depends on the shell, a sourced script or the image's ENTRYPOINT. */
  | { kind: 'depends'; because: string }
  /** The program decides, and a spec does not show how. */
  | { kind: 'unknown'; program?: string };

export function signalHandlingOf({ command, args, noted }: CommandLine, signal = 'TERM'): SignalHandling {
  if (noted === 'ignores') return { kind: 'ignores', because: `its command ignores SIG${signal}` };
  if (noted === 'handles') return { kind: 'handles', how: `a trap for SIG${signal}` };
  if (noted === 'shell') return { kind: 'shell', because: 'its command starts a shell without exec or trap' };
  const words = [...command, ...args];
  const line = shellLineOf(words);
  if (line === undefined) return programHandling(words, command.length > 0);
  // Without `command` the image's ENTRYPOINT comes first, and may be an init such as tini.
  if (command.length === 0)
    return { kind: 'depends', because: "its args start a shell, behind the image's ENTRYPOINT" };
  return lineHandling(line, signal);
}

/** LINE of `sh -c LINE`; undefined if the words do not start such a shell. */
export function shellLineOf(words: readonly string[]): string | undefined {
  if (!/^(\/(usr\/)?(local\/)?bin\/)?(ba|da|a|z|k)?sh$/.test(words[0] ?? '')) return undefined;
  const flagIndex = words.findIndex((word, index) => index > 0 && /^-\w*c$/.test(word));
  const isOption = (word: string): boolean => /^[-+]/.test(word) || word === 'pipefail';
  return flagIndex > 0 && words.slice(1, flagIndex).every(isOption) ? words[flagIndex + 1] : undefined;
}

/** For a program started without a shell. `isComplete`: no ENTRYPOINT of the image precedes the words. */
function programHandling(words: readonly string[], isComplete: boolean): SignalHandling {
  const text = words.join(' ');
  if (isComplete && hasNoHandler(text)) return { kind: 'ignores', because: `\`${clip(text)}\` has no signal handler` };
  const program = isComplete ? words[0]?.split('/').at(-1) : undefined;
  return { kind: 'unknown', program };
}

function lineHandling(line: string, signal: string): SignalHandling {
  const trap = trapOf(line, signal);
  if (trap === 'ignored') return { kind: 'ignores', because: `its command has \`trap "" ${signal}\`` };
  const commands = commandsOf(maskQuoted(line));
  const last = commands.at(-1) ?? '';
  if (last.startsWith('exec ')) return programHandling(last.slice(5).trim().split(/\s+/), true);
  if (trap === 'handled') return trappedHandling(last, signal);
  if (commands.some((command) => /^(\.|source)\s/.test(command)))
    return { kind: 'depends', because: 'it sources a script that may set a trap' };
  if (isSingleProgram(last) && hasNoHandler(last)) return { kind: 'shell', because: `\`${clip(line)}\`` };
  return isSingleProgram(last)
    ? {
        kind: 'depends',
        because:
          'busybox, bash and newer dash replace themselves by the last command of a line, older dash stays PID 1',
      }
    : { kind: 'shell', because: `\`${clip(line)}\`` };
}

/** A shell runs a trap only after its foreground command has ended (POSIX, "Signals and Error Handling"). */
function trappedHandling(last: string, signal: string): SignalHandling {
  const waitsForProgram = isSingleProgram(last) && !/^sleep\s/.test(last);
  return waitsForProgram
    ? { kind: 'shell', because: `its trap runs only after \`${clip(last)}\` has ended` }
    : { kind: 'handles', how: `a trap for SIG${signal}` };
}

/** The last `trap` that names the signal wins; `trap -` restores the default. */
export function trapOf(line: string, signal: string): 'ignored' | 'handled' | undefined {
  const names = new Set([signal, `SIG${signal}`, String(numberOfSignal(`SIG${signal}`))]);
  const traps = [
    ...line.matchAll(/(?:^|[\s;&|(])trap\s+(?:--\s+)?('[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|'"]+)\s+([\w\s]+)/g),
  ];
  const last = traps.findLast(([, , signals = '']) => signals.split(/\s+/).some((one) => names.has(one.toUpperCase())));
  if (!last) return undefined;
  const [, handler = ''] = last;
  if (handler === '-') return undefined;
  return /^(''|""|':'|":"|:)$/.test(handler) ? 'ignored' : 'handled';
}

/** Command separators mean nothing inside quotes and expansions or after a backslash. */
const maskQuoted = (line: string): string =>
  line
    .replace(/\\\n/g, ' ')
    .replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, 'x')
    .replace(/\$\(\([^)]*\)\)|\$\([^()]*\)|\$\{[^}]*\}|`[^`]*`/g, 'x');

/** The commands of a line, in order. A background command keeps its `&`. */
export const commandsOf = (line: string): string[] =>
  line
    .replace(/(^|\s)#.*$/gm, '')
    .split(/;|\n|&&|\|\||(?<=[^>&]&)(?![>&])/)
    .map((command) => command.trim())
    .filter((command) => command !== '');

/** A single program: no pipe, nothing in the background, no shell keyword or builtin. */
const isSingleProgram = (command: string): boolean =>
  command !== '' && !/\||[^>]&$|^[({!]|[)}]$/.test(command) && !shellWords.has(programOf(command));

/** Keywords and builtins that the last command of a line may start with. */
const shellWords = new Set(
  ': [ [[ cd do done echo elif else esac eval exit export false fi for kill printf read return select set test then time trap true unset until wait while if case'.split(
    ' ',
  ),
);

/** Programs that install no signal handler: as PID 1 they ignore a stop signal, like a shell. */
const hasNoHandler = (command: string): boolean => /^(.*\/)?(sleep|tail)$/.test(programOf(command));

/** The first word after any `NAME=value` assignments. */
const programOf = (command: string): string => command.split(/\s+/).find((word) => !/^\w+=/.test(word)) ?? '';

const clip = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text).replaceAll('\n', ' ');
