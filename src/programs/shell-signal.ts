/** What a signal does to a shell: it hands over, drops the signal, postpones it, or runs a trap. */
import { codeOf, type Context, type LinkReaction } from './links.ts';
import type { Shell } from './rows.ts';
import { readScript, type ShellCommand } from './shell-script.ts';
import { isSleep, withCalls, type Standing } from './shell-standing.ts';

/** `standing` undefined: a shell without a script, which reads its commands from its input. */
export function shellReaction(
  shell: Shell,
  standing: Standing | undefined,
  context: Context,
  isInteractive: boolean,
): LinkReaction {
  const { signal } = context;
  const { name, unsure = [] } = shell;
  const traps = standing?.traps ?? new Map<string, string>();
  const trap = traps.get(signal);
  const makesIgnored = trap === '';
  const unknown = (because: string): LinkReaction => ({ does: 'unknown', note: because });
  if (isInteractive && unsure.includes('interactive'))
    return unknown(`what ${name} does when it is interactive has not been measured`);
  if (standing && becomesCommand(shell, standing, isInteractive)) return { does: 'execs', makesIgnored };
  if (makesIgnored || context.isIgnored || (isInteractive && signal === 'TERM'))
    return { does: 'ignores', makesIgnored, because: `${name} ignores SIG${signal}, and does not pass it on` };
  if (isInteractive || unsure.includes(signal) || (traps.has('EXIT') && unsure.includes('EXIT')))
    return unknown(`what ${name} does with SIG${signal} here has not been measured`);
  if (standing && trap !== undefined) return trapReaction(shell, standing, trap, context);
  if (standing && traps.has('EXIT') && shell.endsAfterExitTrap) return exitTrapReaction(shell, standing, signal);
  const waits = standing?.kind === 'wait';
  const codes = traps.has('EXIT') ? [] : undefined;
  if (waits && ((shell.postpones && signal === 'TERM') || shell.endsAt?.includes(signal)))
    return { does: 'leaves', codes: codes ?? [codeOf(signal)] };
  if (!shell.postpones || signal !== 'TERM') return { does: 'drops' };
  return {
    does: 'ignores',
    because: `${name} postpones SIG${signal} until the command has ended, and does not pass it on`,
  };
}

function becomesCommand(shell: Shell, { kind, forms, traps }: Standing, isInteractive: boolean): boolean {
  if (kind === 'became') return true;
  if (kind !== 'foreground' || shell.handsOver === undefined) return false;
  const trapForms = [...traps].map(([name, action]) =>
    name === '-' ? 'trap-reset' : action === '' ? 'ignored' : 'trap',
  );
  const all = [...forms, ...trapForms, ...(isInteractive ? ['interactive'] : [])];
  return all.every((form) => shell.handsOver?.includes(form));
}

const trapRemedy = (text: string) => ({ kind: 'trap' as const, text });

/** A shell runs a trap only after its foreground command has ended, but at once in `wait` (POSIX, 2.11). */
function trapReaction(
  shell: Shell,
  standing: Standing,
  action: string,
  { signal, graceSeconds, toGroup }: Context,
): LinkReaction {
  const { name } = shell;
  const sleeps = standing.kind === 'foreground' && isSleep(standing.words);
  if (standing.kind === 'foreground' && !sleeps) {
    if (toGroup) return { does: 'forwards' };
    const because = `${name} runs its trap only after the command in the foreground has ended`;
    return {
      does: 'ignores',
      because,
      remedy: trapRemedy('Run the command in the background and wait for it: `app & wait $!`'),
    };
  }
  const delay = sleeps && !shell.sleepsItself ? secondsOf(standing.words[1]?.text ?? '') : 0;
  if (delay >= graceSeconds) {
    const because = `${name} runs its trap only after the sleep in the foreground, which is longer than the grace period`;
    return {
      does: 'ignores',
      because,
      remedy: trapRemedy('Sleep in the background and wait for it: `sleep 60 & wait $!`'),
    };
  }
  const run = runOf(action, standing, shell);
  const text = `runs its trap for SIG${signal}`;
  if (run === undefined)
    return { does: 'unknown', text, note: `${name} has a trap for SIG${signal} that runs commands of its own` };
  const { signals, kills, waits, code } = run;
  const own = { text, codes: code === undefined ? [] : [code] };
  if (signals && waits && !kills)
    return { does: 'forwards', ...own, because: `${name} passes the signal on with a trap, and waits` };
  if (!run.exits && (standing.inLoop || (waits && !signals))) {
    const because = `${name} has a trap for SIG${signal} that does not end it`;
    const remedy = trapRemedy('Let the trap stop the application, wait for it, and exit');
    return { does: 'ignores', text, isSent: signals, because, remedy };
  }
  if (standing.job === undefined)
    return { does: 'cuts', ...own, limit: delay || undefined, because: `${name} ends by its trap for SIG${signal}` };
  const because = `${name} ends as soon as its trap has run, and the application with it`;
  return {
    does: 'leaves',
    ...own,
    isSent: signals,
    because,
    remedy: trapRemedy('Wait for the application in the trap, before the shell ends'),
  };
}

/** The shell ends by the signal, after its trap for EXIT. */
function exitTrapReaction(shell: Shell, standing: Standing, signal: string): LinkReaction {
  const run = runOf(standing.traps.get('EXIT') ?? '', { ...standing, rest: [] }, shell);
  const [text, codes] = ['runs its trap for EXIT', [codeOf(signal)]];
  if (run === undefined)
    return { does: 'unknown', note: `${shell.name} has a trap for EXIT that runs commands of its own` };
  return run.signals && run.waits
    ? { does: 'forwards', text, codes }
    : { does: 'leaves', text, codes, isSent: run.signals };
}

interface TrapRun {
  /** It sends the application a signal, SIGKILL if `kills`. */
  signals: boolean;
  kills: boolean;
  /** It waits until the application has ended. */
  waits: boolean;
  /** The shell ends after it. */
  exits: boolean;
  /** Its exit code then, if the script says it. */
  code?: number;
}

const harmless = /^(:|\[|true|echo|printf|trap|sleep|set|log|date|rm|touch|)$/;

/** Follows the action of a trap, and then what comes after the `wait` that it interrupted. Undefined: not known. */
function runOf(
  action: string,
  { kind, job, traps, rest, inLoop, stopsOnError, functions }: Standing,
  shell: Shell,
): TrapRun | undefined {
  const inTrap = readScript(action);
  const atExit = readScript(traps.get('EXIT') ?? '');
  if (inTrap === undefined || atExit === undefined) return undefined;
  const own = withCalls(inTrap.commands, functions);
  const last = withCalls(atExit.commands, functions);
  const exits = own.some(isExit);
  const stops = exits || inLoop || (kind === 'wait' && stopsOnError && rest[0]?.beside === undefined);
  const after = stops ? [] : rest.filter(({ isJob }) => !isJob);
  const run: TrapRun = { signals: false, kills: false, waits: false, exits };
  for (const command of [...own, ...after, ...(inLoop && !exits ? [] : last)]) {
    const texts = command.words.map(({ text }) => text);
    const [name = '', first = ''] = texts;
    // A loop that asks whether the job still runs waits for it.
    if (name === 'kill' && command.forms.has('while condition')) run.waits = true;
    else if (name === 'kill') {
      const sent = killOf(texts, job, shell);
      if (sent === 'unknown') return undefined;
      run.signals ||= sent !== 'nothing';
      run.kills ||= sent === 'KILL';
    } else if (name === 'wait') run.waits = true;
    else if (isExit(command)) run.code ??= /^\d+$/.test(first) ? Number(first) : undefined;
    else if (!after.includes(command) && !harmless.test(name)) return undefined;
  }
  return run;
}

const isExit = ({ words }: ShellCommand): boolean => /^(exit|exec)$/.test(words[0]?.text ?? '');

/** What `kill` sends the application. */
function killOf(
  words: readonly string[],
  job: ShellCommand | undefined,
  shell: Shell,
): 'TERM' | 'KILL' | 'nothing' | 'unknown' {
  const [target = ''] = words.slice(-1);
  const missesJob =
    (target.startsWith('%') && shell.killsJobs === false) || (target === '$!' && job?.forms.has('pipeline'));
  if (words.includes('-0') || missesJob) return 'nothing';
  // A process group has the shell in it; jobs ignore SIGINT and SIGQUIT from their start (POSIX, 2.11).
  const isGroup = /^(0|-.*\$|-1)$/.test(target) || target.startsWith('-');
  if (isGroup || words.some((word) => /^-?(SIG)?(INT|QUIT|2|3)$/.test(word))) return 'unknown';
  return words.some((word) => /^-?(SIG)?(KILL|9)$/.test(word)) ? 'KILL' : 'TERM';
}

/** Of the argument of `sleep`. */
function secondsOf(text: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  return count === undefined ? Infinity : Number(count) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? 1);
}
