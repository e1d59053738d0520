/**
 * What a stop signal meets where PID 1 was started as `sh -c LINE`. busybox, bash and newer dash replace themselves by a
 * simple command that stands last, older dash does not. Read without a parser: in doubt it depends on the shell.
 */
export type ShellFate = 'ignores' | 'depends';

export function shellFateOf(line: string): ShellFate {
  const commands = commandsOf(withoutQuotes(line));
  // A script that is sourced runs in this very shell: what it traps is not to be seen here.
  if (commands.some((command) => /^(\.|source)\s/.test(command))) return 'depends';
  const last = commands.at(-1) ?? '';
  return isSimple(last) && !isDeaf(last) ? 'depends' : 'ignores';
}

/** What separates commands means nothing within quotes and expansions, or behind a backslash. */
const withoutQuotes = (line: string): string =>
  line
    .replace(/\\\n/g, ' ')
    .replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, 'x')
    .replace(/\$\(\([^)]*\)\)|\$\([^()]*\)|\$\{[^}]*\}|`[^`]*`/g, 'x');

/** In order, each with the `&` that sends it to the background. */
const commandsOf = (line: string): string[] =>
  line
    .replace(/(^|\s)#.*$/gm, '')
    .split(/;|\n|&&|\|\||(?<=[^>&]&)(?![>&])/)
    .map((command) => command.trim())
    .filter((command) => command !== '');

/** One program to start: no pipe, nothing in the background, and nothing that only the shell itself can do. */
const isSimple = (command: string): boolean =>
  command !== '' && !/\||[^>]&$|^[({!]|[)}]$/.test(command) && !ownWords.has(programOf(command));

/** Keywords and builtins that may stand last. */
const ownWords = new Set(
  ': [ [[ cd do done echo elif else esac eval exit export false fi for kill printf read return select set test then time true unset until wait while if case'.split(
    ' ',
  ),
);

/** Programs without a handler of their own: as PID 1 they ignore a stop signal just as the shell does. */
const isDeaf = (command: string): boolean => /^(.*\/)?(sleep|tail)$/.test(programOf(command));

/** Its first word, behind the variables that are set for it. */
const programOf = (command: string): string => command.split(/\s+/).find((word) => !/^\w+=/.test(word)) ?? '';
