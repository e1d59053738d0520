/** What the signal does to one link of the chain, from its own reaction and from what it does to the next link. */
import type { Answer, StopBehaviour as Effect, StopRemedy } from './behaviour.ts';
import type { ProgramRow, Reaction } from './rows.ts';
import { numberOfSignal } from './signals.ts';

export interface Context {
  /** The signal without SIG. */
  signal: string;
  graceSeconds: number;
  /** PID 1 does not get a signal that it has no handler for; other processes are ended by it. */
  isPid1: boolean;
  /** The one before it made the signal ignored, which lasts past exec. */
  isIgnored: boolean;
  /** The signal also goes to the children of this process, as they are in one process group. */
  toGroup: boolean;
  /** The shells that /bin/sh may be. */
  sh: readonly string[];
  scripts: ReadonlyMap<string, string>;
  /** Links from PID 1 so far. */
  depth: number;
}

/** What one link does with the signal: from its row, or from a shell's script. */
export interface LinkReaction extends Reaction {
  /** Exit codes of any stop. Empty: not known. */
  codes?: readonly number[];
  /** Whether a trap sends the command a signal. */
  isSent?: boolean;
  /** The signal is ignored by all that it starts. */
  makesIgnored?: boolean;
  /** It is the reaction of a shell's trap, which runs at once. */
  isTrap?: boolean;
  /** The sentence that says what it does. */
  because?: string;
}

type LinkRow = Pick<ProgramRow, 'name' | 'kind' | 'source' | 'isGuess' | 'right' | 'remedy'>;
/** An effect but for what is the same for all links. */
type Own = Omit<Effect, 'chain' | 'probably'>;

const noCodes = { good: [], cut: [] };
const codeOf = (signal: string): number => 128 + (numberOfSignal(`SIG${signal}`) ?? 0);

/** Not an init: it makes the shell end at once, and the application is cut off. Nor another wrapper behind `exec`. */
export const execRemedy: StopRemedy = { kind: 'exec-form', text: 'Start the application itself (`exec`, no wrapper)' };

export const ignoredRemedy: StopRemedy = {
  kind: 'trap',
  text: 'Remove the trap, or handle the signal in it; exec keeps an ignored signal ignored',
};

/** A program of which it is not known what it handles. `reaction`: what it does otherwise, if it is known as a runtime. */
export function unknownApp(name: string, { isPid1, signal, isIgnored }: Context, reaction?: LinkReaction): Effect {
  const app = reaction || !name ? 'the application' : name;
  const called = reaction ? `${app} in ${name}` : app;
  const { does = 'drops', code = does === 'drops' ? codeOf(signal) : 0 } = reaction ?? {};
  const stays = does === 'drops' && (isPid1 || isIgnored);
  const why = isIgnored ? ', as its shell made the signal ignored' : '';
  const otherwise = stays ? `only SIGKILL ends it${why}` : `it ends at once with exit code ${code}`;
  const text = `Handle SIG${signal} in the application, or put an init such as tini in front of it`;
  return {
    reachesApp: 'yes',
    handles: stays ? 'unknown' : 'yes',
    drains: 'unknown',
    probably: false,
    exitCodes: { good: does === 'ends' ? [code] : [], cut: stays ? [] : [code] },
    because: `SIG${signal} reaches ${called}, which decides what it does${noteOf(reaction)}`,
    decidedBy: `the handlers of ${app}: with one for SIG${signal} it can finish its work; without one ${otherwise}`,
    remedy: stays && reaction ? { kind: 'trap', text } : undefined,
    chain: [{ kind: 'unknown', name: called, does: 'is not known here' }],
  };
}

export const scriptUnknown = (name: string, context: Context): Effect => ({
  ...unknownApp(name, context),
  reachesApp: 'unknown',
  because: `${name} is a script whose text is not visible here`,
  decidedBy: `whether ${name} starts the application with exec: if so the signal reaches it, if not the script's shell keeps it`,
  remedy: execRemedy,
});

/** A script whose commands end without being stopped. */
export const endsByItself = (name: string): Effect => ({
  reachesApp: 'yes',
  handles: 'yes',
  drains: 'yes',
  exitCodes: noCodes,
  probably: false,
  chain: [],
  because: `the commands of ${name}'s script end by themselves within moments`,
});

/** `next`: what the signal does to the command that a shell or wrapper starts. Programs have none. */
export function linkEffect(
  row: LinkRow,
  reaction: LinkReaction,
  context: Context,
  next?: (context: Context) => Effect,
): Effect {
  const { kind = 'program', name, source, right } = row;
  const isIgnored = context.isIgnored || reaction.makesIgnored === true;
  const { sends = context.signal, toGroup = false } = reaction;
  const child = { ...context, isPid1: false, isIgnored, signal: sends, toGroup };
  const inner = next?.(reaction.does === 'execs' ? { ...context, isIgnored } : child);
  const isOpen = kind === 'runtime' && !/^(unknown|ignores)$/.test(reaction.does);
  const own = isOpen ? unknownApp(name, context, reaction) : effectOf(row, reaction, context, inner);
  const better = right && right !== context.signal && !inner ? right : undefined;
  const text = `Stop it with SIG${better} (lifecycle.stopSignal, or STOPSIGNAL of its image)`;
  return {
    ...own,
    ...(better && { rightSignal: `SIG${better}` }),
    ...(better && reaction.does !== 'unknown' && { remedy: { kind: 'stop-signal', text } }),
    probably: row.isGuess === true || inner?.probably === true,
    chain: [
      { kind: reaction.isTrap ? 'shell-with-trap' : kind, name, does: clauseOf(reaction, context, own), source },
      ...(inner?.chain ?? []),
    ],
  };
}

function effectOf(row: LinkRow, reaction: LinkReaction, context: Context, inner: Effect | undefined): Own {
  const { name, remedy } = row;
  const { does, because, note, decidedBy } = reaction;
  const unknown = unknownApp(name, context);
  switch (does) {
    case 'execs':
      return inner ?? unknown;
    case 'drops':
      return withoutHandler(name, context, inner, because);
    case 'ignores':
    case 'reloads':
      return {
        reachesApp: inner && !reaction.isSent ? 'no' : 'yes',
        handles: 'no',
        drains: 'no',
        exitCodes: noCodes,
        because: because ?? `${name} goes on at SIG${context.signal}${noteOf(reaction)}`,
        remedy: reaction.remedy ?? (inner && execRemedy),
      };
    case 'unknown': {
      const why = note ?? `what ${name} does with SIG${context.signal} here is not known`;
      const answers = { reachesApp: 'unknown', handles: 'unknown', exitCodes: noCodes } as const;
      return inner ? { ...unknown, ...answers, because: why, decidedBy: decidedBy ?? why, remedy } : unknown;
    }
    case 'leaves':
    case 'forwards':
      return throughWrapper(row, reaction, context, inner ?? unknown);
    default:
      return ofProgram(name, reaction, context);
  }
}

/** A process whose default action the signal is: PID 1 drops it, another process ends. */
function withoutHandler(
  name: string,
  { signal, isPid1, isIgnored, toGroup }: Context,
  inner?: Effect,
  because?: string,
): Own {
  const drops = isPid1 || isIgnored;
  const why = isIgnored ? 'its shell made the signal ignored' : 'as PID 1 it does not get the signal then';
  const stays = because ?? `${name} has no handler for SIG${signal}, and ${why}`;
  return {
    reachesApp: !inner || (toGroup && !drops) ? 'yes' : 'no',
    handles: drops ? 'no' : 'yes',
    drains: 'no',
    exitCodes: { good: [], cut: drops ? [] : [codeOf(signal)] },
    because: drops ? stays : `SIG${signal} ends ${name} at once${inner ? ', and the application with it' : ''}`,
    remedy: inner ? execRemedy : { kind: 'init', text: 'Put an init such as tini in front of it' },
  };
}

function throughWrapper({ name, remedy }: LinkRow, rule: LinkReaction, context: Context, inner: Effect): Own {
  const { does, code, cutCode, childCode, limit = Infinity, from, because } = rule;
  const ownCut = (context.isPid1 ? undefined : childCode) ?? cutCode;
  const killed = limit === Infinity || code !== undefined ? [] : inner.exitCodes.cut;
  const cut = rule.codes ?? (ownCut === undefined ? inner.exitCodes.cut : [ownCut, ...killed]);
  const advice = { remedy: rule.remedy ?? remedy };
  if (does === 'leaves')
    return {
      reachesApp: rule.isSent === false ? 'no' : inner.reachesApp,
      handles: 'yes',
      drains: 'no',
      ...advice,
      exitCodes: { good: [], cut },
      because: because ?? `${name} ends at once at SIG${context.signal}, and the application with it`,
    };
  const good = rule.codes ?? (code === undefined ? inner.exitCodes.good : [code]);
  const passed = { ...inner, because: because ?? inner.because, exitCodes: { good, cut } };
  const { limitSeconds: innerLimit = Infinity, drains } = inner;
  if (limit === Infinity || limit > innerLimit) return passed;
  return {
    ...passed,
    ...advice,
    limitSeconds: limit,
    limitFrom: from,
    because: `${name} kills the application ${limit}s after the signal`,
    drains: limit < innerLimit && drains === 'yes' ? 'unknown' : drains,
  };
}

function ofProgram(name: string, reaction: LinkReaction, { signal, isPid1, graceSeconds }: Context): Own {
  const { does, limit, from, code = 0, childCode = code, cutCode, because } = reaction;
  const isOver = limit !== undefined && limit >= graceSeconds;
  const codes = reaction.codes ?? [isPid1 ? code : childCode];
  const cut = cutCode === undefined ? [] : [cutCode];
  const lower = from === undefined ? '' : `, or lower ${from}`;
  const text = `Its own limit is ${limit}s: give it a longer grace period${lower}`;
  const decidedBy = reaction.decidedBy ?? `what ${name} is doing when the signal comes`;
  return {
    reachesApp: 'yes',
    handles: 'yes',
    limitSeconds: limit,
    limitFrom: from,
    drains: does === 'cuts' ? 'no' : does === 'drains' && !isOver ? 'yes' : 'unknown',
    exitCodes: { good: codes, cut: does === 'cuts' ? [...codes, ...cut] : cut },
    because: because ?? `${name} ${doesText(reaction)} on SIG${signal}${noteOf(reaction)}`,
    ...(does !== 'drains' && does !== 'cuts' && { decidedBy }),
    ...(isOver && { remedy: { kind: from === undefined ? 'longer-grace' : 'setting', text } }),
  };
}

const noteOf = ({ note }: Partial<LinkReaction> = {}): string => (note === undefined ? '' : ` (${note})`);

function doesText({ does, limit }: LinkReaction): string {
  const within = limit === undefined ? '' : ` for up to ${limit}s`;
  const texts: Partial<Record<LinkReaction['does'], string>> = {
    drains: `finishes its work${within}`,
    waits: `waits for its clients${within}`,
    ends: `ends${limit === undefined ? '' : ` within ${limit}s`}`,
    ignores: 'goes on',
    reloads: 'reloads and goes on',
  };
  return texts[does] ?? 'ends at once';
}

/** What the link does, for the list of links. */
function clauseOf(reaction: LinkReaction, { signal }: Context, { handles }: Own): string {
  const { does, isTrap, sends = signal } = reaction;
  if (isTrap) return `runs its trap for SIG${signal}`;
  const texts: Partial<Record<LinkReaction['does'], string>> = {
    drops: handles === 'yes' ? `ends by SIG${signal}` : `drops SIG${signal}`,
    unknown: `is not known for SIG${signal}`,
    forwards: `passes SIG${sends} on`,
    execs: 'replaces itself by the command',
  };
  return texts[does] ?? `${handles === 'no' ? 'goes on' : doesText(reaction)} on SIG${signal}`;
}

/** Several ways that cannot be told apart here: what they agree on is the answer. */
export function agreed(ways: readonly (readonly [string, Effect])[]): Effect {
  const [[, first] = ['', undefined], ...others] = ways;
  if (first === undefined) throw new Error('no way to agree on');
  if (others.length === 0) return first;
  const effects = ways.map(([, effect]) => effect);
  const same = (key: 'reachesApp' | 'handles' | 'drains'): Answer =>
    effects.every((one) => one[key] === first[key]) ? first[key] : 'unknown';
  const codes = (key: 'good' | 'cut') => [...new Set(effects.flatMap(({ exitCodes }) => exitCodes[key]))];
  const isSame = effects.every((one) => answerText(one) === answerText(first));
  return {
    ...first,
    reachesApp: same('reachesApp'),
    handles: same('handles'),
    drains: same('drains'),
    exitCodes: { good: codes('good'), cut: codes('cut') },
    probably: effects.some(({ probably }) => probably),
    because: isSame ? first.because : 'it depends on what is not visible here',
    decidedBy: isSame ? first.decidedBy : ways.map(([label, effect]) => `${label}: ${answerText(effect)}`).join('; '),
    remedy: effects.find(({ remedy }) => remedy)?.remedy,
  };
}

function answerText({ reachesApp, handles, drains }: Effect): string {
  if (handles === 'no') return 'only SIGKILL ends it';
  if (reachesApp === 'no') return 'the application is cut off at once';
  if (reachesApp === 'unknown') return 'not known';
  return `the application gets the signal${drains === 'no' ? ' and is cut off' : ''}`;
}
