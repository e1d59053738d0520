/**
 * What a signal does to a shell: it depends on where the shell stands once its script has started the application. It waits
 * for a command or for its jobs, it became the command (exec), or the script is over.
 */
import { ignoredRemedy, type Context, type LinkReaction } from './links.ts';
import { afterOptions, type Shell } from './rows.ts';
import { isInstant, readScript, type Script, type ShellCommand } from './shell-script.ts';
import type { Word } from './shell-words.ts';
import { signalOfExitCode } from './signals.ts';

interface Spot {
  /** `over`: its script has ended; `input`: it has none, and reads its commands from its input. */
  kind: 'became' | 'foreground' | 'wait' | 'over' | 'input';
  /** The command that it became or waits for in the foreground. */
  words: readonly Word[];
}

interface Place extends Spot {
  forms: ReadonlySet<string>;
  /** Another command of the script could be the application instead. */
  isGuess: boolean;
  index: number;
  /** Actions by signal name without SIG, and EXIT. An empty action ignores the signal; of `-` only that it was used. */
  traps: Traps;
}

/** One way in which the script may stand. */
export interface Standing extends Place {
  /** What comes after it. */
  rest: readonly ShellCommand[];
  /** The last command in the background that is more than a sleep: for a shell that waits, the application. */
  job?: ShellCommand;
  /** With `set -e`, a `wait` that a signal interrupts ends the script. */
  stopsOnError: boolean;
  functions: Script['functions'];
}

/** Several: a condition decides between them. Empty: not known. */
export function standingsOf({ commands, functions }: Script, shell: Shell): Standing[] {
  const jobs: ShellCommand[] = [];
  let [places, traps, isOpen, stopsOnError]: [Place[], Traps, boolean, boolean] = [[], new Map(), false, false];
  for (const [index, command] of commands.entries()) {
    const { words, forms, isJob } = command;
    const [name = '', first = ''] = [words[0]?.text, words[1]?.text];
    // A function that starts a program, a loop that asks whether a job still runs, and `trap "kill $!"` before the job.
    const startsProgram = functions.get(name)?.some((one) => !isInstant(one.words)) === true;
    const isTooEarly = name === 'trap' && jobs.length === 0 && words[1]?.isDynamic === true;
    // `eval "$(…)"` sets variables; others may start anything.
    const isOpenEval = name === 'eval' && words[1]?.isDynamic !== true;
    if (startsProgram || isTooEarly || isOpenEval || (name === 'kill' && forms.has('while condition'))) return [];
    const isBelow = forms.has('subshell') && !shell.handsOver?.includes('subshell');
    const isInChild = isJob || forms.has('pipeline') || isBelow;
    if (name === 'trap' && !isInChild) traps = trapsAfter(words.slice(1), traps, shell.knowsSigPrefix !== false);
    stopsOnError ||= name === 'set' && /^-\w*e/.test(first);
    if (name === 'exit' && !forms.has('?') && !isInChild) break;
    const isLoop = forms.has('while') && !forms.has('while condition');
    if (isJob && (isLoop || !isInstant(words))) jobs.push(command);
    const place = isJob ? undefined : spotOf(command, isInChild, jobs.at(-1));
    isOpen ||= name === 'eval' || forms.has('while condition') || (forms.has('if condition') && place !== undefined);
    if (!place || forms.has('if condition') || isPassing(place, forms, places)) continue;
    const kept = places.filter((one) => one.kind === 'became' || isBeside(one, command));
    const others = places.filter((one) => one.kind === 'foreground' && !kept.includes(one));
    const isGuess = others.some((one) => one.isGuess || !forms.has('&&'));
    places = [...kept, { kind: place.kind, words: place.words, forms, isGuess, index, traps }];
    if (places.length > mostPlaces) return [];
    if (place.kind === 'became' && !forms.has('?')) break;
  }
  if (places.length === 0 && isOpen) return [];
  const nothing: Place = { kind: 'over', words: [], forms: new Set(), isGuess: false, index: commands.length, traps };
  const common = { job: jobs.findLast((one) => sleepOf(one.words) === undefined), stopsOnError, functions };
  const all = places.length > 0 ? places : [nothing];
  return all.map((place) => ({ ...place, ...common, rest: commands.slice(place.index + 1) }));
}

const mostPlaces = 8;
type Formed = Pick<Place, 'forms'>;
const isInBranch = ({ forms }: Formed): boolean => forms.has('if') || forms.has('case');
const isInLoop = ({ forms }: Formed): boolean => forms.has('while') || forms.has('for');
/** Of the two, one may run and not the other, or both by turns. */
const isBeside = (one: Formed, other: Formed): boolean =>
  (isInBranch(one) && isInBranch(other)) || (isInLoop(one) && isInLoop(other));

/** The shell does not stand there: it runs beside what was found before, or takes a moment. */
function isPassing({ kind, words }: Spot, forms: ReadonlySet<string>, places: readonly Place[]): boolean {
  const isBrief = kind === 'wait' || (!isInLoop({ forms }) && (sleepOf(words) ?? Infinity) < Infinity);
  return kind !== 'became' && (forms.has('||') || places.some((one) => kind === one.kind && isBrief));
}

/** Undefined: it takes a moment. */
function spotOf({ words }: ShellCommand, isInChild: boolean, job: ShellCommand | undefined): Spot | undefined {
  const run = /^(command|builtin)$/.test(words[0]?.text ?? '') ? words.slice(1) : words;
  const name = run[0]?.text;
  if (name === 'wait')
    return job && (isInChild ? { kind: 'foreground', words: job.words } : { kind: 'wait', words: [] });
  if (name !== 'exec') return isInstant(run) ? undefined : { kind: 'foreground', words: run };
  const texts = run.map(({ text }) => text);
  const command = run.slice(afterOptions({ next: { values: ['-a'] } }, texts));
  return command.length > 0 ? { kind: isInChild ? 'foreground' : 'became', words: command } : undefined;
}

/** The seconds that a `sleep` takes; undefined if it is another command. */
export function sleepOf([name, time]: readonly Word[]): number | undefined {
  if (!/(^|\/)sleep$/.test(name?.text ?? '')) return undefined;
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(time?.text ?? '') ?? [];
  return count === undefined ? Infinity : Number(count) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? 1);
}

type Traps = ReadonlyMap<string, string>;

function trapsAfter(words: readonly Word[], before: Traps, knowsSigPrefix: boolean): Traps {
  const traps = new Map(before);
  const [action, ...names] = words.filter(({ text }, index) => index > 0 || text !== '--');
  for (const { text } of names) {
    if (text.startsWith('SIG') && !knowsSigPrefix) continue;
    const named = text === '0' ? 'EXIT' : (signalOfExitCode(128 + Number(text)) ?? text);
    const signal = named.replace(/^SIG/, '').toUpperCase();
    if (action?.text !== '-') traps.set(signal, action?.text.trim() ?? '');
    else if (traps.delete(signal)) traps.set('-', '');
  }
  return traps;
}

export function shellReaction(shell: Shell, standing: Standing, context: Context): LinkReaction {
  const { name, unsure = [], handsOver } = shell;
  const { kind, traps, forms, rest } = standing;
  const { signal, isPid1, isIgnored } = context;
  const trap = traps.get(signal);
  const makesIgnored = trap === '';
  const ofTraps = [...traps].flatMap(([one, action]) => (action !== '' ? 'trap' : one === '-' ? 'trap-reset' : []));
  const all = [...forms, ...ofTraps].filter((form) => !/^[?&|]/.test(form));
  const isLast = rest.length === 0 && kind === 'foreground';
  const becomes = isLast && handsOver !== undefined && all.every((form) => handsOver.includes(form));
  if (kind === 'became' || kind === 'over' || becomes) return { does: 'execs', makesIgnored };
  const because = `${name} ignores SIG${signal}, and does not pass it on`;
  if ((makesIgnored || isIgnored) && !unsure.includes(kind))
    return { does: 'ignores', makesIgnored, because, remedy: ignoredRemedy };
  // The last command of a branch may be the last of the script.
  const mayBecome = isInBranch(standing) && rest.length > 0 && handsOver?.includes('if');
  const isTrap = trap !== undefined;
  const here = [...forms, signal, kind, traps.has('EXIT') && 'EXIT', isTrap && 'trap', !isPid1 && 'child'];
  if (mayBecome || unsure.some((one) => here.includes(one)))
    return { does: 'unknown', note: `what ${name} does with SIG${signal} here is not known` };
  return isTrap ? trapReaction(name, standing, trap, context) : { does: 'drops' };
}

/** A shell runs a trap only after its foreground command has ended, but at once in `wait` (POSIX, 2.11). */
function trapReaction(name: string, standing: Standing, trap: string, context: Context): LinkReaction {
  const { kind, words, job } = standing;
  const sleep = sleepOf(words);
  const says = (does: LinkReaction['does'], what: string, advice?: string): LinkReaction => ({
    does,
    note: `${name} ${what}`,
    because: `${name} ${what}`,
    isTrap: true,
    remedy: advice === undefined ? undefined : { kind: 'trap', text: advice },
  });
  if (kind === 'foreground' && (sleep ?? Infinity) >= context.graceSeconds) {
    if (sleep === undefined && context.toGroup) return { does: 'forwards' };
    const what = sleep === undefined ? 'command in the foreground has ended' : longSleep;
    const better = `\`${sleep === undefined ? 'app' : 'sleep 60'} & wait $!\``;
    return says(
      'ignores',
      `runs its trap only after the ${what}`,
      `Run it in the background and wait for it: ${better}`,
    );
  }
  const of = `a trap for SIG${context.signal}`;
  const { signals, waits, exits, codes } = runOf(trap, standing) ?? { signals: true };
  const goesOn = !exits && (isInLoop(standing) || codes === undefined || (waits && !signals));
  if (goesOn && signals) return says('unknown', `has ${of} that runs commands of its own`);
  if (goesOn)
    return says(
      'ignores',
      `has ${of} that does not end it`,
      'Let the trap stop the application, wait for it, and exit',
    );
  if (signals && waits) return { ...says('forwards', 'passes the signal on with a trap, and waits'), codes };
  if (!job) return { ...says('cuts', `ends by its trap for SIG${context.signal}`), codes, limitSeconds: sleep };
  const advice = 'Wait for the application in the trap, before the shell ends';
  const ends = says('leaves', 'ends as soon as its trap has run, and the application with it', advice);
  return { ...ends, codes, isSent: signals };
}

const longSleep = 'sleep in the foreground, which is longer than the grace period';
const harmless = /^(kill|wait|exit|exec|:|\[|true|echo|printf|trap|sleep|set|log|date|rm|touch|)$/;
const nameOf = ({ words }: ShellCommand): string => words[0]?.text ?? '';

/**
 * Follows the action of a trap, and then what comes after the `wait` that it interrupted: whether the application gets a
 * signal; whether the shell waits until it has ended, and ends then. Undefined: not known.
 */
function runOf(action: string, standing: Standing) {
  const { kind, job, traps, rest, stopsOnError, functions } = standing;
  const [own, last] = [action, traps.get('EXIT') ?? ''].map((text) =>
    readScript(text)?.commands.flatMap((one) => functions.get(nameOf(one)) ?? [one]),
  );
  if (!own || !last) return undefined;
  const exits = own.some((one) => /^(exit|exec)$/.test(nameOf(one)));
  const stops = exits || isInLoop(standing) || (kind === 'wait' && stopsOnError && !rest[0]?.forms.has('||'));
  const atExit = isInLoop(standing) && !exits ? [] : last;
  const all = [...own, ...(stops ? [] : rest.filter(({ isJob }) => !isJob)), ...atExit];
  const lines = all.map(({ words }) => words.map(({ text }) => text).join(' '));
  const kills = lines.filter((line) => /^kill (?!-0)/.test(line));
  // A process group has the shell in it; jobs ignore SIGINT and SIGQUIT from their start (POSIX, 2.11); `%1` is a shell's.
  const isOpen =
    / (0|%\S*|-\S*)$/.test(kills[0] ?? '') || kills.some((line) => /\b(SIG)?(INT|QUIT|KILL|2|3|9)\b/.test(line));
  const isPiped = job?.forms.has('pipeline') && kills.length > 0;
  if (isOpen || isPiped || ![...own, ...atExit].every((one) => harmless.test(nameOf(one)))) return undefined;
  const [, code] = /^exit (\d+)$/m.exec(lines.join('\n')) ?? [];
  return {
    signals: kills.length > 0,
    waits: lines.some((line) => /^wait\b/.test(line)),
    exits,
    codes: code === undefined ? [] : [Number(code)],
  };
}
