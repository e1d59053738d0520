/** What a signal does to a shell: it hands over, drops the signal, postpones it, or runs a trap. */
import { codeOf, link, none, withoutHandler, type Context, type Effect } from './links.ts';
import { parseScript } from './shell-script.ts';
import { isSleep, type Shell, type Standing } from './shell-standing.ts';
import type { StopRemedy } from './behaviour.ts';

/** The effect on the command that follows, as another process or after exec. */
type Next = (context: Context, words: 'command' | 'job') => Effect;

/** `standing` undefined: a shell without a script, which reads its commands from its input. */
// eslint-disable-next-line max-lines-per-function -- to be split: its parts share one state
export function shellEffect(
  shell: Shell,
  standing: Standing | undefined,
  context: Context,
  isInteractive: boolean,
  next: Next | undefined,
): Effect {
  const { signal } = context;
  const trap = standing?.traps.get(signal);
  const isIgnored = context.isIgnored || trap === '';
  const of = (does: string, effect: Effect): Effect => ({
    ...effect,
    probably: effect.probably || standing?.isGuess === true,
    chain: [link('shell', shell.name, does, shell.source), ...effect.chain],
  });
  if (isInteractive && shell.unsure?.includes('interactive'))
    return notKnown(shell.name, endsByItself(shell.name), context);
  if (standing?.kind === 'over') return of('runs its script to the end', endsByItself(shell.name));
  if (standing !== undefined && next !== undefined && becomesCommand(shell, standing, isInteractive)) {
    const effect = next({ ...context, isIgnored }, 'command');
    const isKeeper = standing.job !== undefined && effect.handles === 'no';
    return of('replaces itself by the command', isKeeper ? { ...effect, reachesApp: 'no' } : effect);
  }
  const hasJob = standing?.job !== undefined && (standing.kind === 'wait' || isSleep(standing.words));
  const app = next?.({ ...context, isPid1: false, isIgnored }, hasJob ? 'job' : 'command') ?? endsByItself(shell.name);
  const { chain } = app;
  const stays = (because: string): Effect => ({
    ...withoutHandler(shell.name, { ...context, isPid1: true }, app),
    because,
    chain,
  });
  const ending = (codes: readonly number[]): Effect => ({
    ...withoutHandler(shell.name, { ...context, isPid1: false, isIgnored: false }, app),
    exitCodes: { good: [], cut: codes },
    chain,
  });
  if (isIgnored || (isInteractive && signal === 'TERM'))
    return of(`ignores SIG${signal}`, stays(`${shell.name} ignores SIG${signal}, and does not pass it on`));
  if (
    isInteractive ||
    shell.unsure?.includes(signal) ||
    (shell.unsure?.includes('EXIT') && standing?.traps.has('EXIT'))
  )
    return of(`is not known for SIG${signal}`, notKnown(shell.name, app, context));
  if (trap !== undefined && standing)
    return of(`runs its trap for SIG${signal}`, trapEffect(shell, standing, trap, context, app, hasJob));
  const exitTrap = standing?.traps.get('EXIT');
  if (exitTrap !== undefined && standing && shell.exitTrapCode !== undefined) {
    const run = runTrap(exitTrap, { ...standing, rest: [] }, shell);
    const code = shell.exitTrapCode === 143 ? codeOf(signal) : shell.exitTrapCode;
    const effect = ending([code]);
    if (run.signals && run.waits)
      return of(`runs its trap for EXIT`, { ...app, exitCodes: { good: [code], cut: [code] } });
    return of(`ends by SIG${signal}`, {
      ...effect,
      reachesApp: run.signals && hasJob ? 'yes' : effect.reachesApp,
      probably: true,
    });
  }
  const postpones = shell.postpones && signal === 'TERM';
  if (postpones && standing?.kind === 'wait')
    return of(`ends by SIG${signal}`, ending(exitTrap === undefined ? [codeOf(signal)] : []));
  if (postpones)
    return of(
      `postpones SIG${signal}`,
      stays(`${shell.name} postpones SIG${signal} until the command has ended, and does not pass it on`),
    );
  if (shell.endsAt?.includes(signal) && standing?.kind === 'wait')
    return of(`ends by SIG${signal}`, ending([codeOf(signal)]));
  const effect = withoutHandler(shell.name, context, app);
  const kept = `${shell.name} stays PID 1 and does not pass SIG${signal} on`;
  return of(context.isPid1 ? `drops SIG${signal}` : `ends by SIG${signal}`, {
    ...effect,
    because: context.isPid1 ? kept : effect.because,
    chain,
  });
}

/** Forms that say nothing about whether it is the last command. */
const neutralForms = new Set(['conditional', 'guess']);

function becomesCommand(shell: Shell, { kind, forms, traps }: Standing, isInteractive: boolean): boolean {
  const hands = (form: string): boolean => neutralForms.has(form) || shell.handsOver?.includes(form) === true;
  if (kind === 'became') return ['subshell', 'pipeline'].every((form) => !forms.has(form) || hands(form));
  if (kind !== 'foreground' || shell.handsOver === undefined) return false;
  const trapForms = [...traps].map(([name, action]) =>
    name === '-' ? 'trap-reset' : action === '' ? 'ignored' : 'trap',
  );
  return [...forms, ...trapForms, ...(isInteractive ? ['interactive'] : [])].every(hands);
}

const endsByItself = (name: string): Effect => ({
  reachesApp: 'yes',
  handles: 'yes',
  drains: 'yes',
  exitCodes: none,
  probably: false,
  because: `the commands of ${name}'s script end by themselves within moments`,
  chain: [],
});

const notKnown = (name: string, app: Effect, { signal }: Context): Effect => ({
  ...app,
  reachesApp: 'unknown',
  handles: 'unknown',
  drains: 'unknown',
  exitCodes: none,
  because: `what ${name} does with SIG${signal} here has not been measured`,
  decidedBy: name,
});

const trapRemedy = (text: string): StopRemedy => ({ kind: 'trap', text });

/** A shell runs a trap only after its foreground command has ended, but at once in `wait` (POSIX, 2.11). */
// eslint-disable-next-line max-lines-per-function -- to be split: its parts share one state
function trapEffect(
  shell: Shell,
  standing: Standing,
  action: string,
  context: Context,
  app: Effect,
  hasApp: boolean,
): Effect {
  const { signal, graceSeconds } = context;
  const { chain } = app;
  if (standing.kind === 'foreground' && !isSleep(standing.words)) {
    if (context.toGroup) return app;
    const because = `${shell.name} runs its trap only after the command in the foreground has ended`;
    const remedy = trapRemedy('Run the command in the background and wait for it: `app & wait $!`');
    return { ...withoutHandler(shell.name, { ...context, isPid1: true }, app), because, remedy, chain };
  }
  const ran = runTrap(action, standing, shell);
  const sleeps = standing.kind === 'foreground' && !shell.sleepsItself;
  const delay = sleeps ? secondsOf(standing.words[1]?.text ?? '') : 0;
  const never: Effect = {
    ...app,
    reachesApp: ran.signals ? 'yes' : 'no',
    handles: 'no',
    drains: 'no',
    exitCodes: none,
    decidedBy: undefined,
    because: '',
  };
  if (delay >= graceSeconds) {
    const because = `${shell.name} runs its trap only after the sleep in the foreground, which is longer than the grace period`;
    return {
      ...never,
      reachesApp: 'no',
      because,
      remedy: trapRemedy('Sleep in the background and wait for it: `sleep 60 & wait $!`'),
    };
  }
  if (ran.isUnknown)
    return {
      ...notKnown(shell.name, app, context),
      handles: 'yes',
      because: `${shell.name} has a trap for SIG${signal} that runs commands of its own`,
      decidedBy: 'what the commands of the trap do',
    };
  if (!ran.exits && !(ran.signals && ran.waits))
    return {
      ...never,
      because: `${shell.name} has a trap for SIG${signal} that does not end it`,
      remedy: trapRemedy('Let the trap stop the application, wait for it, and exit'),
    };
  const limitSeconds = delay > 0 ? delay : undefined;
  if (ran.signals && ran.waits && !ran.kills) {
    const codes = ran.codes ?? app.exitCodes.good;
    return {
      ...app,
      limitSeconds: app.limitSeconds,
      exitCodes: { good: codes, cut: ran.codes ?? app.exitCodes.cut },
      because: `${shell.name} passes the signal on with a trap, and waits`,
      remedy: app.remedy,
    };
  }
  const codes = ran.kills ? [137] : (ran.codes ?? [shell.interruptedCode ?? codeOf(signal)]);
  return {
    ...app,
    limitSeconds,
    reachesApp: ran.signals || !hasApp ? 'yes' : 'no',
    handles: 'yes',
    drains: hasApp ? 'no' : 'yes',
    exitCodes: hasApp ? { good: [], cut: codes } : { good: codes, cut: [] },
    because: hasApp
      ? `${shell.name} ends as soon as its trap has run, and the application with it`
      : `${shell.name} ends by its trap for SIG${signal}`,
    decidedBy: undefined,
    remedy: hasApp ? trapRemedy('Wait for the application in the trap, before the shell ends') : undefined,
  };
}

interface TrapRun {
  /** It sends the application a signal. */
  signals: boolean;
  /** It sends it SIGKILL. */
  kills: boolean;
  /** It then waits until the application has ended. */
  waits: boolean;
  /** The shell ends after it. */
  exits: boolean;
  /** The exit codes of the shell then. Undefined: the status of its last command. */
  codes?: readonly number[];
  isUnknown: boolean;
  /** The signal goes to the shell's process group: the shell gets it too. */
  isGroup?: boolean;
}

const harmless = /^(:|true|echo|printf|trap|kill|sleep|set|log|date|rm|touch|)$/;

/** Follows the action of the trap, and then what comes after the `wait` that it interrupted. */
function runTrap(action: string, standing: Standing, shell: Shell): TrapRun {
  let run: TrapRun = { signals: false, kills: false, waits: false, exits: false, isUnknown: false };
  const inTrap = parseScript(action)?.items;
  if (inTrap === undefined) return { ...run, isUnknown: true };
  const ended = (codes: readonly number[] | undefined): TrapRun => {
    const atExit = standing.traps.get('EXIT');
    if (atExit === undefined || atExit === action) return { ...run, exits: true, codes };
    const last = runTrap(atExit, { ...standing, traps: new Map(), rest: [] }, shell);
    return {
      ...run,
      signals: run.signals || last.signals,
      waits: run.waits || last.waits,
      isUnknown: last.isUnknown,
      exits: true,
      codes,
    };
  };
  let waitCodes: readonly number[] | undefined = shell.keepsWaitCode ? [] : [shell.interruptedCode ?? 143];
  for (const [index, { command }] of [...inTrap, ...standing.rest].entries()) {
    const words = command.kind === 'simple' ? command.words.map(({ text }) => text) : [];
    const [name = '', first = ''] = words;
    const isInTrap = index < inTrap.length;
    if (command.kind === 'while' && standing.rest.length > 0 && !isInTrap && run.signals) {
      run = { ...run, waits: true };
      waitCodes = [];
      continue;
    }
    if (!isInTrap && standing.stopsOnError && !run.waits) return ended(undefined);
    if (!isInTrap && standing.inLoop) return run.waits ? ended(waitCodes) : run;
    if (name === 'kill') {
      run = killed(run, words, standing, shell);
      if (run.exits) return { ...run, waits: false };
    } else if (name === 'wait') {
      if (!run.signals) return run;
      run = { ...run, waits: true };
      if (run.isGroup) waitCodes = [];
      else if (!isInTrap && waitCodes?.length !== 0) waitCodes = first === '' ? [0] : undefined;
    } else if (name === 'exit')
      return ended(
        /^\d+$/.test(first) ? [Number(first)] : run.waits && first === '' ? [0] : run.waits ? waitCodes : undefined,
      );
    else if (name === 'exec') return { ...run, exits: true, codes: [0] };
    else if (isInTrap && !harmless.test(name)) return { ...run, isUnknown: true };
  }
  return ended(run.waits ? waitCodes : undefined);
}

function killed(run: TrapRun, words: readonly string[], { job, traps }: Standing, shell: Shell): TrapRun {
  const [target = ''] = words.slice(-1);
  const missesJob = (/^%/.test(target) && shell.killsJobs === false) || (target === '$!' && job?.isPipeline === true);
  if (words.includes('-0') || missesJob) return run;
  const toGroup = /^(0|-.*\$)/.test(target);
  // Jobs ignore SIGINT and SIGQUIT from their start (POSIX, 2.11).
  const isUnknown = run.isUnknown || words.some((word) => /^-?(SIG)?(INT|QUIT|2|3)$/.test(word));
  const kills = words.some((word) => /^-?(SIG)?(KILL|9)$/.test(word));
  const endsShell = toGroup && (shell.postpones === true || (traps.has('EXIT') && shell.exitTrapCode !== undefined));
  return { ...run, signals: true, kills, isUnknown, exits: endsShell, isGroup: toGroup };
}

function secondsOf(text: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?|inf\w*)([smhd]?)$/.exec(text) ?? [];
  if (count === undefined) return Infinity;
  return /^inf/.test(count) ? Infinity : Number(count) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? 1);
}
