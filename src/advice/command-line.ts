/**
 * What a container's PID 1 makes of a stop signal, as far as its command line shows it. Read without a shell's parser: in
 * doubt the answer is `unknown` or `depends`, never "handles". Rules of PID 1: SIGNALS.md §5 "Exit codes".
 */

/** `command` replaces the image's ENTRYPOINT, `args` its CMD; what is absent is in the image and not to be seen. */
export interface CommandLine {
  command: readonly string[];
  args: readonly string[];
  /** Of a recording, which keeps no words: what was noted as they were read. */
  noted?: 'shell' | 'ignores';
}

export type SignalHandling =
  /** It sets a handler. How long that takes is another question. */
  | { kind: 'handles'; how: string }
  /** The stop signal has no effect; `because` quotes the command. */
  | { kind: 'ignores'; because: string }
  /** A shell that passes no signal on to what it started. */
  | { kind: 'shell'; because: string }
  /** It depends on which shell it is, or on a script that is sourced. */
  | { kind: 'depends'; because: string }
  /** The program decides, and no spec shows how. */
  | { kind: 'unknown'; program?: string };

export function signalHandlingOf({ command, args, noted }: CommandLine, signal = 'TERM'): SignalHandling {
  if (noted === 'ignores') return { kind: 'ignores', because: `its command ignores SIG${signal}` };
  if (noted === 'shell') return { kind: 'shell', because: 'its command starts a shell without exec or trap' };
  const words = [...command, ...args];
  const line = shellLineOf(words);
  if (line === undefined) return programHandling(words, command.length > 0);
  // Without `command` the image's ENTRYPOINT comes first, and may be an init such as tini.
  if (command.length === 0)
    return { kind: 'depends', because: "its args start a shell, behind the image's ENTRYPOINT" };
  return lineHandling(line, signal);
}

/** LINE of `sh -c LINE`; undefined where the words start no such shell. */
export function shellLineOf(words: readonly string[]): string | undefined {
  if (!/^(\/(usr\/)?(local\/)?bin\/)?(ba|da|a|z|k)?sh$/.test(words[0] ?? '')) return undefined;
  const at = words.findIndex((word, index) => index > 0 && /^-\w*c$/.test(word));
  const isOption = (word: string): boolean => /^[-+]/.test(word) || word === 'pipefail';
  return at > 0 && words.slice(1, at).every(isOption) ? words[at + 1] : undefined;
}

/** Started without a shell. */
function programHandling(words: readonly string[], isComplete: boolean): SignalHandling {
  const text = words.join(' ');
  if (isComplete && hasNoHandler(text)) return { kind: 'ignores', because: `\`${short(text)}\` has no signal handler` };
  const program = isComplete ? words[0]?.split('/').at(-1) : undefined;
  return { kind: 'unknown', program };
}

function lineHandling(line: string, signal: string): SignalHandling {
  const trap = trapOf(line, signal);
  if (trap === 'ignored') return { kind: 'ignores', because: `its command says \`trap "" ${signal}\`` };
  const commands = commandsOf(withoutQuotes(line));
  const last = commands.at(-1) ?? '';
  if (last.startsWith('exec ')) return programHandling(last.slice(5).trim().split(/\s+/), true);
  if (trap === 'handled') return trappedHandling(last, signal);
  if (commands.some((command) => /^(\.|source)\s/.test(command)))
    return { kind: 'depends', because: 'it sources a script that may set a trap' };
  if (isSimple(last) && hasNoHandler(last)) return { kind: 'shell', because: `\`${short(line)}\`` };
  return isSimple(last)
    ? {
        kind: 'depends',
        because:
          'busybox, bash and newer dash replace themselves by the last command of a line, older dash stays PID 1',
      }
    : { kind: 'shell', because: `\`${short(line)}\`` };
}

/** A shell runs a trap when the command in its foreground has ended, not before (POSIX, "Signals and Error Handling"). */
function trappedHandling(last: string, signal: string): SignalHandling {
  const waitsForProgram = isSimple(last) && !/^sleep\s/.test(last);
  return waitsForProgram
    ? { kind: 'shell', because: `its trap runs only after \`${short(last)}\` has ended` }
    : { kind: 'handles', how: `a trap for SIG${signal}` };
}

/** The last `trap` of the line that names the signal decides. A `trap -` gives it back to the default. */
function trapOf(line: string, signal: string): 'ignored' | 'handled' | undefined {
  const numbers: Record<string, string> = { TERM: '15', INT: '2', QUIT: '3', HUP: '1', USR1: '10', USR2: '12' };
  const names = new Set([signal, `SIG${signal}`, numbers[signal] ?? signal]);
  const traps = [
    ...line.matchAll(/(?:^|[\s;&|(])trap\s+(?:--\s+)?('[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|'"]+)\s+([\w\s]+)/g),
  ];
  const last = traps.findLast(([, , signals = '']) => signals.split(/\s+/).some((one) => names.has(one.toUpperCase())));
  if (!last) return undefined;
  const [, handler = ''] = last;
  if (handler === '-') return undefined;
  return /^(''|""|':'|":"|:)$/.test(handler) ? 'ignored' : 'handled';
}

/** What separates commands means nothing within quotes and expansions, or behind a backslash. */
const withoutQuotes = (line: string): string =>
  line
    .replace(/\\\n/g, ' ')
    .replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, 'x')
    .replace(/\$\(\([^)]*\)\)|\$\([^()]*\)|\$\{[^}]*\}|`[^`]*`/g, 'x');

/** In order, each with the `&` that sends it to the background. */
export const commandsOf = (line: string): string[] =>
  line
    .replace(/(^|\s)#.*$/gm, '')
    .split(/;|\n|&&|\|\||(?<=[^>&]&)(?![>&])/)
    .map((command) => command.trim())
    .filter((command) => command !== '');

/** One program to start: no pipe, nothing in the background, and nothing that only the shell itself can do. */
const isSimple = (command: string): boolean =>
  command !== '' && !/\||[^>]&$|^[({!]|[)}]$/.test(command) && !shellWords.has(programOf(command));

/** Keywords and builtins that may stand last. */
const shellWords = new Set(
  ': [ [[ cd do done echo elif else esac eval exit export false fi for kill printf read return select set test then time trap true unset until wait while if case'.split(
    ' ',
  ),
);

/** Programs without a handler of their own: as PID 1 they ignore a stop signal, just as a shell does. */
const hasNoHandler = (command: string): boolean => /^(.*\/)?(sleep|tail)$/.test(programOf(command));

/** Its first word, behind the variables that are set for it. */
const programOf = (command: string): string => command.split(/\s+/).find((word) => !/^\w+=/.test(word)) ?? '';

const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text).replaceAll('\n', ' ');
