/** What the signal does to one link, from what it does to the next one. */
import type { ProgramRow, Reaction } from './rows.ts';
import { numberOfSignal } from './signals.ts';
import type { Answer, Link, StopBehaviour, StopRemedy } from './behaviour.ts';
import type { Base } from './images.ts';
import type { Word } from './shell-script.ts';

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
  base: Base;
  env: ReadonlyMap<string, Word>;
  scripts: ReadonlyMap<string, string>;
  /** Links from PID 1 so far. */
  depth: number;
}

/** The same as the public answer, for a part of the chain. */
export type Effect = StopBehaviour;

export const none = { good: [], cut: [] };
export const codeOf = (signal: string): number => 128 + (numberOfSignal(`SIG${signal}`) ?? 0);

export const link = (kind: Link['kind'], name: string, does: string, source?: string): Link => ({
  kind,
  name,
  does,
  source,
});

/** Programs that are not known: without a handler, PID 1 drops the signal, and another process is ended by it. */
export function unknownApp(name: string, { isPid1, signal, isIgnored }: Context): Effect {
  const called = name || 'the application';
  const killed = isIgnored ? 'SIGKILL ends it, as its shell made the signal ignored' : 'the signal ends it at once';
  return {
    reachesApp: 'yes',
    handles: isPid1 || isIgnored ? 'unknown' : 'yes',
    drains: 'unknown',
    exitCodes: isPid1 ? none : { good: [], cut: [codeOf(signal)] },
    probably: false,
    because: `SIG${signal} reaches ${called}, which decides what it does`,
    decidedBy: `whether ${called} handles SIG${signal}: if so it can finish its work, if not ${isPid1 ? 'only SIGKILL ends it' : killed}`,
    chain: [link('unknown', called, 'is not known here')],
  };
}

export function scriptUnknown(name: string, context: Context): Effect {
  return {
    ...unknownApp(name, context),
    reachesApp: 'unknown',
    handles: context.isPid1 ? 'unknown' : 'yes',
    because: `${name} is a script whose text is not visible here`,
    decidedBy: `whether ${name} starts the application with exec: if so the signal reaches it, if not the script's shell keeps it`,
    remedy: execRemedy,
  };
}

const execRemedy: StopRemedy = {
  kind: 'exec-form',
  text: 'Start the application with `exec`, or without a shell',
};
const initRemedy: StopRemedy = { kind: 'init', text: 'Put an init such as tini in front of it' };

/** Several ways that cannot be told apart here: what they agree on is the answer. */
export function agreed(ways: readonly (readonly [string, Effect])[]): Effect {
  const [[, first] = ['', undefined], ...others] = ways;
  if (first === undefined) throw new Error('no way to agree on');
  if (others.length === 0) return first;
  const effects = ways.map(([, effect]) => effect);
  const same = (of: (effect: Effect) => Answer): Answer =>
    effects.every((effect) => of(effect) === of(first)) ? of(first) : 'unknown';
  const answers = [same((one) => one.reachesApp), same((one) => one.handles), same((one) => one.drains)] as const;
  const [reachesApp, handles, drains] = answers;
  const codes = (of: 'good' | 'cut') => [...new Set(effects.flatMap(({ exitCodes }) => exitCodes[of]))];
  const isSame = effects.every((one) => answerText(one) === answerText(first));
  return {
    ...first,
    reachesApp,
    handles,
    drains,
    exitCodes: { good: codes('good'), cut: codes('cut') },
    probably: effects.some(({ probably }) => probably),
    because: isSame ? first.because : 'it depends on what is not visible here',
    decidedBy: isSame ? first.decidedBy : ways.map(([label, effect]) => `${label}: ${answerText(effect)}`).join('; '),
    remedy: effects.find(({ remedy }) => remedy)?.remedy,
  };
}

const answerText = ({ reachesApp, handles, drains }: Effect): string => {
  if (handles === 'no') return 'only SIGKILL ends it';
  if (reachesApp === 'no') return 'the application is cut off at once';
  if (reachesApp === 'yes')
    return drains === 'no' ? 'the application gets the signal and is cut off' : 'the application gets the signal';
  return 'not known';
};

/** A process whose default action the signal is: PID 1 drops it, another process ends. */
export function withoutHandler(name: string, context: Context, next: Effect | undefined): Effect {
  const { signal, isPid1, isIgnored } = context;
  const drops = isPid1 || isIgnored;
  return {
    reachesApp: next ? (context.toGroup && !drops ? 'yes' : 'no') : 'yes',
    handles: drops ? 'no' : 'yes',
    drains: 'no',
    exitCodes: { good: [], cut: drops ? [] : [codeOf(signal)] },
    probably: next?.probably ?? false,
    because: drops
      ? `${name} has no handler for SIG${signal}, and ${isIgnored ? 'its shell made the signal ignored' : 'as PID 1 it does not get the signal then'}`
      : `SIG${signal} ends ${name} at once${next ? ', and the application with it' : ''}`,
    remedy: next ? execRemedy : initRemedy,
    chain: [],
  };
}

export function programEffect(row: ProgramRow, context: Context): Effect {
  const { signal, isPid1, isIgnored, graceSeconds } = context;
  const reaction = row.signals?.[signal];
  const kind = row.kind ?? 'program';
  const of = (does: string) => [link(kind, row.name, does, row.source)];
  if (reaction === undefined || reaction.does === 'unknown') {
    const effect = unknownApp(row.name, context);
    return {
      ...effect,
      ...(row.right === undefined ? {} : { rightSignal: `SIG${row.right}` }),
      chain: of(`is not known for SIG${signal}`),
    };
  }
  if (kind === 'runtime') return runtimeEffect(row, reaction, context);
  if (reaction.does === 'drops')
    return {
      ...withoutHandler(row.name, context, undefined),
      ...rightOf(row, signal),
      chain: of(isPid1 ? `drops SIG${signal}` : `ends by SIG${signal}`),
    };
  const isOver = reaction.limit !== undefined && reaction.limit >= graceSeconds;
  const acts = !['ignores', 'reloads'].includes(reaction.does);
  const drains: Answer =
    ({ drains: 'yes', waits: 'unknown', ends: 'unknown' } as Record<string, Answer>)[reaction.does] ?? 'no';
  const code = reaction.code ?? 0;
  const codes = isPid1 || reaction.childCode === undefined ? [code] : [reaction.childCode];
  return {
    reachesApp: 'yes',
    handles: acts ? 'yes' : 'no',
    drains: isOver && drains === 'yes' ? 'unknown' : drains,
    limitSeconds: reaction.limit,
    limitFrom: reaction.from,
    exitCodes: codesOf(drains, acts ? codes : [], reaction.cutCode),
    probably: row.isGuess === true,
    because: `${row.name} ${doesText(reaction)} on SIG${signal}${reaction.note ? ` (${reaction.note})` : ''}`,
    ...(drains === 'unknown' ? { decidedBy: reaction.decidedBy ?? decidedByWork(row.name) } : {}),
    ...rightOf(row, signal),
    ...(isOver ? { remedy: longerGrace(reaction) } : {}),
    chain: of(`${doesText(reaction)} on SIG${signal}`),
    ...(isIgnored && !acts ? { handles: 'no' as const } : {}),
  };
}

function codesOf(drains: Answer, codes: readonly number[], cutCode: number | undefined): Effect['exitCodes'] {
  const cut = cutCode === undefined ? [] : [cutCode];
  return drains === 'no' ? { good: codes, cut: [...codes, ...cut] } : { good: codes, cut };
}

const decidedByWork = (name: string): string => `what ${name} is doing when the signal comes`;

const longerGrace = ({ limit = 0, from }: Reaction): StopRemedy => ({
  kind: from === undefined ? 'longer-grace' : 'setting',
  text: `Its own limit is ${limit}s: give it a longer grace period${from === undefined ? '' : `, or lower ${from}`}`,
});

const rightOf = ({ right }: ProgramRow, signal: string): Partial<Effect> =>
  right === undefined || right === signal
    ? {}
    : {
        rightSignal: `SIG${right}`,
        remedy: {
          kind: 'stop-signal',
          text: `Stop it with SIG${right} (lifecycle.stopSignal, or STOPSIGNAL of its image)`,
        },
      };

function doesText({ does, limit }: Reaction): string {
  const within = limit === undefined ? '' : ` for up to ${limit}s`;
  const texts: Record<string, string> = {
    drains: `finishes its work${within}`,
    waits: `waits for its clients${within}`,
    cuts: 'ends at once',
    ends: `ends${within && ` within ${limit}s`}`,
    ignores: 'goes on',
    reloads: 'reloads and goes on',
  };
  return texts[does] ?? does;
}

/** A language's runtime: what it does with a signal that the application does not handle. */
function runtimeEffect(row: ProgramRow, { does, code = 0, cutCode, note }: Reaction, context: Context): Effect {
  const { isPid1, signal } = context;
  const stays = does === 'drops' && (isPid1 || context.isIgnored);
  const cut = does === 'drops' ? codeOf(signal) : code;
  const own = stays ? 'only SIGKILL ends it' : `it ends at once with exit code ${cut}`;
  const chain = [
    link('runtime', row.name, stays ? `drops SIG${signal} without a handler` : `ends by SIG${signal}`, row.source),
  ];
  if (does === 'ignores')
    return {
      ...withoutHandler(row.name, { ...context, isPid1: true }, undefined),
      because: `${row.name} goes on at SIG${signal}`,
      chain,
    };
  if (row.text === 'has no handler') {
    const effect = withoutHandler(row.name, { ...context, isPid1: stays, isIgnored: false }, undefined);
    return {
      ...effect,
      reachesApp: row.startsChild ? 'no' : 'yes',
      exitCodes: { good: [], cut: stays ? [] : [cut, ...(cutCode === undefined ? [] : [cutCode])] },
      chain,
    };
  }
  return {
    reachesApp: 'yes',
    handles: stays || row.text !== undefined ? 'unknown' : 'yes',
    drains: 'unknown',
    exitCodes: { good: does === 'ends' ? [cut] : [], cut: stays ? [] : [cut] },
    probably: row.isGuess === true,
    because: `${row.name} runs the application, which decides what it does with SIG${signal}${note ? ` (${note})` : ''}`,
    decidedBy: `whether the application handles SIG${signal}: if so it can finish its work; without a handler ${own}`,
    remedy: stays
      ? { kind: 'trap', text: `Handle SIG${signal} in the application, or put an init such as tini in front of it` }
      : undefined,
    chain,
  };
}

// eslint-disable-next-line max-lines-per-function -- to be split: its parts share one state
export function wrapperEffect(
  row: ProgramRow,
  words: readonly string[],
  context: Context,
  next: (context: Context) => Effect,
): Effect {
  const rule = row.signals?.[context.signal] ?? row.others ?? { does: 'drops' as const };
  const of = (does: string, effect: Effect): Effect => ({
    ...effect,
    probably: effect.probably || row.isGuess === true,
    chain: [link(row.kind ?? 'wrapper', row.name, does, row.source), ...effect.chain],
  });
  if (rule.does === 'execs') return of('replaces itself by the command', next(context));
  const child = {
    ...context,
    isPid1: false,
    isIgnored: false,
    signal: rule.sends ?? context.signal,
    toGroup: rule.toGroup ?? false,
  };
  const inner = next(child);
  if (rule.does === 'drops') {
    const effect = withoutHandler(row.name, context, inner);
    return of(context.isPid1 ? `drops SIG${context.signal}` : `ends by SIG${context.signal}`, {
      ...effect,
      chain: inner.chain,
    });
  }
  if (rule.does === 'unknown')
    return of(`is not known for SIG${context.signal}`, {
      ...scriptUnknown(row.name, context),
      because: `what ${row.name} does with SIG${context.signal} here is not known`,
      decidedBy: row.name,
      remedy: undefined,
      chain: inner.chain,
    });
  if (rule.does === 'ignores')
    return of(`goes on at SIG${context.signal}`, {
      ...withoutHandler(row.name, { ...context, isPid1: true }, inner),
      chain: inner.chain,
    });
  const ownCut = (context.isPid1 ? undefined : rule.childCode) ?? rule.cutCode;
  const killed = rule.limit === undefined || rule.code !== undefined ? [] : inner.exitCodes.cut;
  const cut = ownCut === undefined ? inner.exitCodes.cut : [ownCut, ...killed];
  if (rule.does === 'leaves') {
    const because = `${row.name} ends at once at SIG${context.signal}, and the application with it`;
    return of('ends at once', {
      ...inner,
      reachesApp: rule.code === undefined ? 'yes' : inner.reachesApp,
      handles: 'yes',
      drains: 'no',
      exitCodes: { good: [], cut },
      because,
      decidedBy: undefined,
      remedy: row.remedy,
      chain: inner.chain,
    });
  }
  const limitSeconds = least(rule.limit, inner.limitSeconds);
  const isOwn = rule.limit !== undefined && limitSeconds === rule.limit;
  const good = rule.code === undefined ? inner.exitCodes.good : [rule.code];
  return of(`passes SIG${child.signal} on`, {
    ...inner,
    limitSeconds,
    limitFrom: isOwn ? rule.from : inner.limitFrom,
    exitCodes: { good, cut },
    because: inner.because,
    ...(isOwn
      ? {
          because: `${row.name} kills the application ${limitSeconds}s after the signal`,
          remedy: rule.remedy ?? row.remedy,
        }
      : {}),
    drains:
      isOwn && inner.drains === 'yes' && (inner.limitSeconds ?? Infinity) > limitSeconds ? 'unknown' : inner.drains,
  });
}

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
