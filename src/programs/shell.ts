/** What a signal does to a shell that waits for a command or its jobs, became the command (exec), or has ended its script. */
import data from './data/traps.json' with { type: 'json' };
import type { Context } from './links.ts';
import { afterOptions, rowOf, type Reaction, type Shell, signalOfExitCode } from './rows.ts';
import { inlined, isInstant, isOneThat, readScript, textsOf, type Script, type ShellCommand } from './shell-script.ts';
import { secondsOf, type Word } from './shell-words.ts';

export interface Standing extends Pick<ShellCommand, 'isFollowed'> {
  /** `over`: its script has ended. */
  kind: 'became' | 'foreground' | 'wait' | 'over';
  /** The command that it became or waits for in the foreground. */
  words: readonly Word[];
  forms: ReadonlySet<string>;
  /** Actions by signal name without SIG, and EXIT. An empty action ignores the signal; of `-` only that it was used. */
  traps: ReadonlyMap<string, string>;
  index: number;
  script: Script;
  /** The commands in the background that are more than a sleep; for a shell that waits, the last is the application. */
  jobs: readonly ShellCommand[];
  /** It only keeps the container there: what came before left the application in the background. */
  isKept?: boolean;
  /** With `set -e`, a `wait` that a signal interrupts ends the script. */
  stopsOnError?: boolean;
}

type Spot = Pick<Standing, 'kind' | 'words'>;
type Place = Omit<Standing, 'script' | 'jobs'> & { runsOn?: boolean };
type Sentence = Pick<Reaction, 'decidedBy' | 'sends' | 'isTrap'> & { does: string; text: string; advice?: string };

const nameOf = ({ words }: ShellCommand): string => words[0]?.text ?? '';
const [notUnderstood, doubtful] = [data.notUnderstood, data.doubtful].map((all) => new RegExp(all.join('|'), 'm'));
const variablesIn = (text: string): Set<string> => new Set(text.match(/(?<=\$\{?)[\w!]+/g));
/** How it stands, but for `known`, and its words, for the patterns of the data. */
const lineOf = ({ forms, words, isJob }: ShellCommand, known?: ReadonlySet<string>): string =>
  `${[...forms, isJob ? 'job' : ''].filter((one) => !known?.has(one)).join()}: ${textsOf(words).join(' ').slice(0, 300)}`;

/** Several: what is not known here decides between them. Empty: not known. */
export function standingsOf(script: Script, shell: Shell): Standing[] {
  const jobs: ShellCommand[] = [];
  let places: Place[] = [];
  let traps: Standing['traps'] = new Map();
  let [isOpen, stopsOnError, readsOthers, joined] = [false, false, false, 0];
  const last = script.commands.at(-1);
  for (const [index, command] of script.commands.entries()) {
    const { words, forms, isJob, isFollowed } = command;
    if (!forms.has('&&')) joined = index;
    const [name, line] = [nameOf(command), lineOf(command)];
    // `trap "kill $!"` before the job, which it does not know yet.
    const isTooEarly = jobs.length === 0 && name === 'trap' && words[1]?.isDynamic === true;
    if (isTooEarly || notUnderstood?.test(line)) return [];
    const isBelow = forms.has('subshell') && !(last?.forms.has('subshell') && handsOver(shell, last.forms));
    const isInChild = isJob || forms.has('pipeline') || isBelow;
    readsOthers ||= (!isInChild || shell.isLastOfPipeline === true) && /^(\.|source|eval)$/.test(name);
    if (name === 'trap' && !isInChild) traps = trapsAfter(words.slice(1), traps, shell.knowsSigPrefix !== false);
    const [, onError] = (!isInChild && /: set (?:[-+]?\w+ )*([-+])(?:\w*e\w*|o errexit)(?: |$)/.exec(line)) || [];
    stopsOnError = onError === '-' || (stopsOnError && !onError);
    if (name === 'exit' && !forms.has('?') && !isInChild) break;
    const isLoop = forms.has('while') && !forms.has('while condition');
    if (isJob && (isLoop || !isInstant(command))) jobs.push(command);
    const spot = isJob ? undefined : spotOf(command, isInChild, jobs.at(-1));
    isOpen ||= name === 'eval' || forms.has('while condition') || (forms.has('if condition') && spot !== undefined);
    if (!spot || forms.has('if condition') || isPassing(spot, forms, places)) continue;
    const { kind, words: awaited } = spot;
    if (readsOthers && kind !== 'became' && !traps.size && !/\//.test(name) && !rowOf(textsOf(words))) return [];
    const ahead = places.filter((one) => one.kind !== 'became' && !isBeside(one, command));
    // What comes after a program that serves is not reached, whether by `;` or by `&&`.
    if (ahead.some((one) => one.runsOn && !one.forms.has('?'))) continue;
    const ends = (one: Place): boolean => one.forms.has('while condition') || isOneThat('ends', one.words);
    const held = (kind === 'wait' ? jobs.at(-1)?.words : awaited) ?? [];
    const isIdle = command === last && (sleepOf(held) ?? -1) >= (isInLoop(command) ? 0 : Infinity);
    // The application is what comes before the end of `app && curl URL` and of `app && tail -f LOG`.
    const from = isIdle || (command === last && isOneThat('ends', held)) ? index : joined;
    const left = [...ahead.filter((one) => !ends(one)), ...jobs].filter((one) => sleepOf(one.words) === undefined);
    const isKept = isIdle && left.length > 0 && left.every((one) => isOneThat('starts', one.words));
    // Nobody traps a signal to wait for something short.
    const runsOn = isKept || (kind === 'wait' && traps.has('TERM') && !sleepOf(held)) || isOneThat('serves', held);
    const over = ahead.filter((one) => !one.runsOn && (runsOn || kind === 'became' || one.index >= from || ends(one)));
    const place = { kind, words: awaited, forms, isFollowed, isKept, traps, index, runsOn, stopsOnError };
    places = [...places.filter((one) => !over.includes(one)), place];
    if (places.length > 8) return [];
    if (kind === 'became' && !forms.has('?')) break;
  }
  if (places.length === 0 && !isOpen) places.push({ kind: 'over', words: [], forms: new Set(), traps, index: 0 });
  return places.map((place) => ({ ...place, jobs: jobs.filter((one) => sleepOf(one.words) === undefined), script }));
}

type Formed = Pick<Standing, 'forms'>;
const isInBranch = ({ forms }: Formed): boolean => forms.has('if') || forms.has('case');
const isInLoop = ({ forms }: Formed): boolean => forms.has('while') || forms.has('for');
const isBeside = (one: Formed, other: Formed): boolean => [isInBranch, isInLoop].some((is) => is(one) && is(other));

/** The shell does not stand there: it runs beside what was found before, or after it, or takes a moment. */
function isPassing({ kind, words }: Spot, forms: ReadonlySet<string>, places: readonly Place[]): boolean {
  const isBrief = kind === 'wait' || (!isInLoop({ forms }) && (sleepOf(words) ?? Infinity) < Infinity);
  return kind !== 'became' && (forms.has('||') || (isBrief && places.some((one) => kind === one.kind)));
}

/** Undefined: it takes a moment. */
function spotOf({ words, forms }: ShellCommand, isInChild: boolean, job: ShellCommand | undefined): Spot | undefined {
  const name = words[0]?.text;
  if (name === 'wait')
    return job && (isInChild ? { kind: 'foreground', words: job.words } : { kind: 'wait', words: [] });
  if (name !== 'exec') return isInstant({ words, forms }) ? undefined : { kind: 'foreground', words };
  const command = words.slice(afterOptions({ next: { values: ['-a'] } }, textsOf(words)));
  return command.length > 0 ? { kind: isInChild ? 'foreground' : 'became', words: command } : undefined;
}

/** The seconds that a `sleep` takes, or what does nothing for ever; undefined if it is another command. */
export function sleepOf(words: readonly Word[]): number | undefined {
  const isWait = /^(\S*\/)?(sleep .|tail (.* )?(-\w*[fF]|--follow))/.test(textsOf(words).join(' '));
  return isWait ? (secondsOf(words[1]?.text ?? '') ?? Infinity) : undefined;
}

function trapsAfter(words: readonly Word[], before: Standing['traps'], knowsSigPrefix: boolean) {
  const traps = new Map(before);
  const [action, ...names] = words.filter(({ text }, index) => index > 0 || text !== '--');
  for (const { text } of names.filter((one) => knowsSigPrefix || !one.text.startsWith('SIG'))) {
    const named = text === '0' ? 'EXIT' : (signalOfExitCode(128 + Number(text)) ?? text);
    const signal = named.replace(/^SIG/, '').toUpperCase();
    if (action?.text !== '-') traps.set(signal, action?.text.trim() ?? '');
    else if (traps.delete(signal)) traps.set('-', '');
  }
  return traps;
}

export function shellReaction(shell: Shell, standing: Standing, context: Context): Reaction {
  const { kind, words, traps, forms, isFollowed, isKept, jobs } = standing;
  const { signal, isIgnored, toGroup } = context;
  const trap = traps.get(signal);
  const makesIgnored = trap === '';
  const ofTraps = [...traps].flatMap(([one, action]) => (action !== '' ? 'trap' : one === '-' ? 'trap-reset' : []));
  const becomes = !isFollowed && kind === 'foreground' && handsOver(shell, [...forms, ...ofTraps]);
  const code = trap === undefined ? endCode(shell, standing, context) : undefined;
  if (kind === 'over') return { ...says(shell, signal, data.over), codes: [] };
  const isAlone = jobs.length <= Number(kind === 'wait' && !jobs.some(isInLoop));
  const rest = !isAlone ? data.isBeside : isFollowed ? data.isFollowed : undefined;
  const how = isKept ? data.isStarter : forms.has('pipeline') ? data.isPiped : isInLoop(standing) ? data.isLoop : rest;
  const remedy = how && { kind: 'trap' as const, text: how.text.replaceAll('NAME', signal) };
  // `app & exec sleep infinity`: the application is a child of what gets the signal.
  const does = (jobs.length > 0 || isKept) && sleepOf(words) !== undefined ? 'drops' : 'execs';
  if (kind === 'became' || becomes) return { does, makesIgnored, remedy };
  // With its whole group signalled, it ends after the command in the foreground, unless that was one of many.
  const isPassed = toGroup && kind === 'foreground' && sleepOf(standing.words) === undefined && !isInLoop(standing);
  if (isPassed && (trap !== undefined || isIgnored)) return { does: 'forwards', codes: [], makesIgnored };
  if (makesIgnored || isIgnored) return { ...says(shell, signal, data.ignores), makesIgnored };
  const open = shell.unsure?.find(({ where }) => holds(where, standing, context));
  if (code === undefined && open) return says(shell, signal, { ...data.isUnsure, ...open });
  if (trap === undefined && code === undefined) return { does: 'drops', remedy };
  const stands = trap === undefined ? { ...standing, kind: 'wait' as const } : standing;
  return { isTrap: trap !== undefined, ...trapReaction(shell, stands, trap ?? `exit ${code}`, context), codes: [] };
}

const handsOver = (shell: Shell, forms: Iterable<string>): boolean =>
  [...forms].every((form) => /^[?&|]/.test(form) || shell.handsOver?.includes(form)) && shell.handsOver !== undefined;

const endCode = ({ ends = [] }: Shell, standing: Standing, context: Context): number | undefined =>
  ends.find(({ where }) => holds(where, standing, context))?.code;

function holds(where: string, { kind, forms, traps }: Standing, { signal, isPid1 }: Context): boolean {
  const own = [traps.has('EXIT') && 'EXIT', traps.has(signal) ? 'trap' : 'untrapped', !isPid1 && 'child'];
  return where.split(' ').every((one) => [...forms, kind, signal, ...own].includes(one));
}

function says({ name }: Shell, signal: string, { does, text, advice, ...rest }: Sentence): Reaction {
  const note = `${name} ${text.replace('SIG', `SIG${signal}`)}`;
  const remedy = advice ? { kind: 'trap' as const, text: advice.replaceAll('NAME', signal) } : undefined;
  return { ...rest, does: does as Reaction['does'], note, because: note, remedy };
}

/** A shell runs a trap only after its foreground command has ended, but at once in `wait` (POSIX, 2.11). */
function trapReaction(shell: Shell, standing: Standing, trap: string, context: Context): Reaction {
  const { kind, words, jobs, isKept } = standing;
  const { signal, graceSeconds } = context;
  const sleep = shell.trapsInSleep && /sleep$/.test(words[0]?.text ?? '') ? 0 : sleepOf(words);
  // A test of a loop or a `break` may ask for what the trap sets: a variable or a file.
  const asks = (one: ShellCommand): boolean =>
    new RegExp(one.forms.has('while condition') ? data.mayChange : data.leavesLoop).test(nameOf(one));
  const late = isInLoop(standing) && standing.script.commands.filter(isInLoop).some(asks) ? data.isStep : data.isLate;
  const isLong = kind === 'foreground' && (sleep ?? Infinity) >= graceSeconds;
  const stuck = isKept ? { ...data.sleeps, advice: data.isStarter.text } : sleep === undefined ? late : data.sleeps;
  if (isLong && (isKept || (sleep ?? Infinity) === Infinity)) return says(shell, signal, stuck);
  const run = runOf(trap, standing, shell);
  const { signals = true, waits, exits, sleeps } = run ?? {};
  const goesOn = !run || (waits && !signals) || (!exits && isInLoop(standing));
  if (isLong && (signals || !goesOn || late === data.isStep)) return says(shell, signal, data.oversleeps);
  if (goesOn) return says(shell, signal, signals ? data.isOpen : late === data.isStep ? late : data.goesOn);
  if (signals && waits) return says(shell, signal, data.passesOn);
  if (jobs.length === 0 && !isKept && (words.length === 0 || sleep !== undefined))
    return sleeps ? says(shell, signal, data.endsLater) : { ...says(shell, signal, data.ends), limitSeconds: sleep };
  return { ...says(shell, signal, data.leaves), isSent: signals };
}

/** What a trap and what follows it do; undefined: not known. */
function runOf(action: string, standing: Standing, { kills = [], knowsSigPrefix }: Shell) {
  const { kind, jobs, traps, index, stopsOnError, script, forms } = standing;
  const rest = script.commands.slice(index + 1);
  const [own, last] = [action, traps.get('EXIT') ?? ''].map((text) => {
    const read = readScript(text);
    return read && inlined({ ...script, commands: read.commands })?.commands;
  });
  if (!own || !last) return undefined;
  const exits = own.some((one) => /^(exit|exec)$/.test(nameOf(one)));
  const loops = isInLoop(standing);
  const stops = exits || loops || (kind === 'wait' && stopsOnError && !rest[0]?.forms.has('||'));
  const atExit = loops && !exits ? [] : last;
  const parts = [own, stops ? [] : rest.filter(({ isJob }) => !isJob), atExit];
  if (parts.some((all) => doubtful?.test(all.map((one) => lineOf(one, forms)).join('\n')))) return undefined;
  if (!parts[1]?.every((one) => isInstant(one) || isOneThat('ends', one.words))) return undefined;
  const lines = parts.flat().map(({ words }) => textsOf(words).join(' '));
  const sent = lines.flatMap((line) => {
    if (knowsSigPrefix === false && /^kill (-[sn] )?-?SIG/.test(line)) return 'unknown';
    const means = data.kills.find(({ when }) => new RegExp(when).test(line))?.means ?? 'nothing';
    return kills.find((one) => one.means === means)?.as ?? means;
  });
  if (sent.includes('SIGKILL')) return { signals: false, exits: exits || !loops };
  const killed = variablesIn(lines.map((line) => /^kill(?: -(?:[sn] )?\S+)?( .*)/.exec(line)?.[1] ?? '').join());
  const here = textsOf(script.commands[index]?.words ?? []).join(' ');
  const pauses = [here, ...lines.filter((line) => /^wait\b/.test(line))].map(variablesIn);
  const isNamed = pauses.every((names) => names.size > 0 && [...names].every((one) => killed.has(one)));
  // Of several jobs, those that it waits for are the application, or else all must be signalled; with all waited for, a sleep too.
  const all = pauses.slice(1).some(({ size }) => size === 0) ? script.commands.filter(({ isJob }) => isJob) : jobs;
  const isOther = killed.size > 0 && killed.size < all.length && !isNamed;
  const isSubshell = jobs.slice(-1).some((job) => job.isFollowed || new RegExp(data.compound).test(lineOf(job, forms)));
  const isOpen = isOther || sent.some((one) => /^(unknown|job)/.test(one) || (one !== 'nothing' && isSubshell));
  if (isOpen || ![...own, ...atExit].every((one) => data.harmless.includes(nameOf(one)))) return undefined;
  const waits = pauses.length > 1;
  const isAnew = loops && forms.has('while') && !exits && !stopsOnError && jobs.every(isInLoop);
  const signals = !isAnew && sent.some((one) => one !== 'nothing');
  const sleeps = lines.some((line) => /^sleep\b/.test(line));
  return signals && !waits && sleeps ? undefined : { signals, waits, exits, sleeps };
}
