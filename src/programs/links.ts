/** What the signal does to one link of the chain, from its own reaction and from what it does to the next link. */
import type { Answer, ProgramContainer, StopBehaviour as Effect, StopRemedy } from './behaviour.ts';
import data from './data/traps.json' with { type: 'json' };
import { type ProgramRow, type Reaction, numberOfSignal } from './rows.ts';

export interface Context extends Pick<ProgramContainer, 'scripts'> {
  signal: string; // Without SIG.
  graceSeconds: number;
  /** PID 1 does not get a signal that it has no handler for; other processes are ended by it. */
  isPid1: boolean;
  /** The one before it made the signal ignored, which lasts past exec. */
  isIgnored: boolean;
  /** The signal also goes to the children of this process, as they are in one process group. */
  toGroup: boolean;
  sh: readonly string[];
  around: string;
  depth: number;
}

type LinkRow = Pick<ProgramRow, 'name' | 'kind' | 'source' | 'isGuess' | 'right' | 'remedy'>;
type LinkParts = { row: LinkRow; reaction: Reaction; context: Context; inner: Effect | undefined };

const plain: Omit<Effect, 'because'> = {
  reachesApp: 'yes',
  handles: 'yes',
  drains: 'unknown',
  probably: false,
  exitCodes: { good: [], cut: [] },
  chain: [],
};
const codeOf = (signal: string): number => 128 + (numberOfSignal(`SIG${signal}`) ?? 0);

/** Not an init: it makes the shell end at once, and the application is cut off. Nor another wrapper behind `exec`. */
export const execRemedy: StopRemedy = { kind: 'exec-form', text: data.itself };

/** A program of which it is not known what it handles. `reaction`: what it does otherwise, if it is known as a runtime. */
export function unknownApp(name: string, { isPid1, signal, isIgnored }: Context, reaction?: Reaction): Effect {
  const app = reaction || !name ? 'the application' : name;
  const called = reaction ? `${app} in ${name}` : app;
  const { does = 'drops', code = does === 'drops' ? codeOf(signal) : 0, cutCode } = reaction ?? {};
  const stays = does === 'drops' && (isPid1 || isIgnored || new RegExp(data.endsNothing).test(signal));
  const why = isIgnored ? `, as ${data.isIgnored}` : (!reaction && /TERM|INT|HUP|QUIT/.test(signal) && data.inGo) || '';
  const otherwise = stays ? `only SIGKILL ends it${why}` : 'it ends at once';
  const handlers = `the handlers of ${app}: with one for SIG${signal} it can finish its work; without one ${otherwise}`;
  return {
    ...plain,
    handles: stays ? 'unknown' : 'yes',
    exitCodes: { good: does === 'ends' ? [code] : [], cut: stays ? [] : [code, cutCode ?? []].flat() },
    because: `SIG${signal} reaches ${called}, which decides what it does${noteOf(reaction)}`,
    decidedBy: reaction?.decidedBy ?? handlers,
    remedy: stays && reaction ? { kind: 'trap', text: data.handler.replace('NAME', signal) } : undefined,
    chain: [{ kind: 'unknown', name: called, does: 'unknown' }],
  };
}

export const scriptUnknown = (name: string, context: Context): Effect => ({
  ...unknownApp(name, { ...context, isPid1: true }),
  reachesApp: 'unknown',
  because: `${name} is a script whose text is not visible here`,
  decidedBy: `whether ${name} starts the application with exec: if so the signal reaches it, if not ${context.isPid1 ? 'only SIGKILL ends it' : 'it is cut off'}`,
  remedy: execRemedy,
});

/** `next`: what the signal does to the command that a shell or wrapper starts. Programs have none. */
export function linkEffect(row: LinkRow, reaction: Reaction, context: Context, next?: (inner: Context) => Effect) {
  const { kind = 'program', name, source, right, isGuess = false } = row;
  const { does, sends = context.signal, makesIgnored = false } = reaction;
  const toGroup = reaction.toGroup ?? (kind === 'shell' && context.toGroup);
  const child = does === 'execs' ? {} : { isPid1: false, signal: sends, toGroup };
  const inner = next?.({ ...context, ...child, isIgnored: context.isIgnored || makesIgnored });
  const better = right && right !== context.signal && !inner ? `SIG${right}` : undefined;
  const text = `Stop it with ${better} (STOPSIGNAL of its image, or lifecycle.stopSignal, which clusters drop by default through 1.37)`;
  return {
    ...ownEffect({ row, reaction, context, inner }),
    ...(better && { rightSignal: better }),
    ...(better && does !== 'unknown' && { remedy: { kind: 'stop-signal' as const, text } }),
    probably: isGuess || (does !== 'drops' && inner?.probably === true),
    chain: [{ kind: reaction.isTrap ? 'shell-with-trap' : kind, name, does, source }, ...(inner?.chain ?? [])],
  };
}

function ownEffect(link: LinkParts): Effect {
  const { row, reaction, context, inner } = link;
  const { does, note } = reaction;
  if (row.kind === 'runtime' && !/^(unknown|ignores)$/.test(does)) return unknownApp(row.name, context, reaction);
  if (/^(drops|ignores|reloads)$/.test(does)) return goesOn(link);
  if (does === 'leaves' || does === 'forwards') return throughWrapper(link, inner ?? unknownApp(row.name, context));
  if (does !== 'unknown' && does !== 'execs') return ofProgram(link);
  if (!inner || does === 'execs') return inner ?? unknownApp(row.name, context);
  const because = note ?? `what ${row.name} does with SIG${context.signal} here is not known`;
  const { decidedBy = because, remedy = row.remedy } = reaction;
  return { ...plain, reachesApp: 'unknown', handles: 'unknown', because, decidedBy, remedy };
}

/** A process that goes on: PID 1 also without a handler, by which another process is ended. */
function goesOn({ row: { name }, reaction, context, inner }: LinkParts): Effect {
  const { signal, isPid1, isIgnored, toGroup } = context;
  const hasHandler = reaction.does !== 'drops';
  const isHarmless = new RegExp(data.endsNothing).test(signal);
  const isDropped = isPid1 || isIgnored || hasHandler || isHarmless;
  const isOpen = inner && toGroup && isDropped;
  const why = isIgnored ? data.isIgnored : isPid1 ? data.isPid1 : data.isHarmless;
  const [says, note] = hasHandler ? ['goes on at', noteOf(reaction)] : ['has no handler for', `, and ${why}`];
  const ends = `SIG${signal} ends ${name} at once${inner ? ', and the application with it' : ''}`;
  // Without this one, it would be PID 1, and drop the signal as well.
  const [last, ...others] = (isDropped && !isHarmless && inner?.chain.toReversed()) || [];
  const isStuck = last?.kind === 'program' && last.does === 'drops' && others.every(({ does }) => does === 'execs');
  const init = `ut an init such as tini in front of ${isStuck ? `${last.name} (in a script, with exec)` : name}`;
  const put = hasHandler || isHarmless ? undefined : { kind: 'init' as const, text: `P${init}` };
  const remedy = reaction.remedy ?? (inner && !isStuck ? execRemedy : put);
  const { rightSignal = `SIG${signal}`, remedy: better } = inner ?? {};
  const text = remedy?.text.replace('SENT', rightSignal.slice(3)).replace(/: `(.*)app(?= & .*-INT )/, data.jobOfInt);
  const alone = isStuck && /^Start the app(?!.* cannot)/.test(text ?? '') ? `; instead of exec alone, p${init}` : '';
  const stop = better?.kind === 'stop-signal' ? `; with exec, ${better.text.replace(/^S(?=[a-z])/, 's')}` : alone;
  return {
    ...plain,
    reachesApp: !inner || toGroup || (hasHandler && reaction.sends) ? 'yes' : 'no',
    handles: isOpen ? 'unknown' : isDropped ? 'no' : 'yes',
    drains: isOpen || (hasHandler && reaction.sends) ? 'unknown' : 'no',
    decidedBy: isOpen ? `whether the command that ${name} runs ends by the signal, and is its last` : undefined,
    exitCodes: { good: [], cut: isDropped ? [] : [codeOf(signal)] },
    because: isDropped ? (reaction.because ?? `${name} ${says} SIG${signal}${note}`) : ends,
    remedy: remedy && { ...remedy, text: `${text}${stop}` },
  };
}

function throughWrapper({ row, reaction, context }: LinkParts, inner: Effect): Effect {
  const { code, cutCode, childCode, limitSeconds: limit = Infinity, limitFrom, codes, remedy = row.remedy } = reaction;
  const ownCut = (context.isPid1 ? undefined : childCode) ?? cutCode;
  const killed = limit === Infinity || code !== undefined ? [] : inner.exitCodes.cut;
  const cut = codes ?? (ownCut === undefined ? inner.exitCodes.cut : [ownCut, ...killed]);
  if (reaction.does === 'leaves') {
    const { because = `${row.name} ends at once at SIG${context.signal}, and the application with it` } = reaction;
    const reachesApp = reaction.isSent === false ? 'no' : inner.reachesApp;
    return { ...plain, reachesApp, drains: 'no', remedy, exitCodes: { good: [], cut }, because };
  }
  const good = codes ?? (code === undefined ? inner.exitCodes.good : [code]);
  const { because: says = inner.because, decidedBy } = reaction;
  const passed = { ...inner, because: says, decidedBy: inner.decidedBy ?? decidedBy, exitCodes: { good, cut } };
  const { limitSeconds: innerLimit = Infinity, drains } = inner;
  if (limit === Infinity || limit > innerLimit) return passed;
  const because = `${row.name} kills the application ${limit}s after the signal`;
  const isSure = limit === innerLimit || drains !== 'yes';
  return { ...passed, remedy, limitSeconds: limit, limitFrom, because, drains: isSure ? drains : 'unknown' };
}

function ofProgram({ row: { name, isGuess }, reaction, context: { signal, isPid1, graceSeconds } }: LinkParts): Effect {
  const { does, limitSeconds, limitFrom, code = isGuess ? undefined : 0, childCode = code, cutCode } = reaction;
  const isOver = limitSeconds !== undefined && limitSeconds >= graceSeconds;
  const codes = reaction.codes ?? [(isPid1 ? code : childCode) ?? []].flat();
  const text = `Its own limit is ${limitSeconds}s: give it a longer grace period${limitFrom ? `, or lower ${limitFrom}` : ''}`;
  const { decidedBy = `what ${name} is doing when the signal comes` } = reaction;
  const within = limitSeconds === undefined ? '' : `${does === 'ends' ? ' within' : ' for up to'} ${limitSeconds}s`;
  return {
    ...plain,
    limitSeconds,
    limitFrom,
    drains: does === 'cuts' ? 'no' : does === 'drains' && !isOver ? 'yes' : 'unknown',
    exitCodes: { good: codes, cut: [...(does === 'cuts' ? codes : []), cutCode ?? []].flat() },
    because: reaction.because ?? `${name} ${data.verbs[does as 'cuts']}${within} on SIG${signal}${noteOf(reaction)}`,
    decidedBy: /drains|cuts/.test(does) ? undefined : decidedBy,
    remedy: isOver ? { kind: limitFrom === undefined ? 'longer-grace' : 'setting', text } : undefined,
  };
}

const noteOf = ({ note }: Partial<Reaction> = {}): string => (note === undefined ? '' : ` (${note})`);

/** Several ways that cannot be told apart here: what they agree on is the answer. */
export function agreed(ways: readonly (readonly [string, Effect])[]): Effect {
  const effects = ways.map(([, effect]) => effect);
  // A trap that one of the ways keeps back is none.
  const first = (effects.find(({ chain }) => chain[0]?.kind !== 'shell-with-trap') ?? effects[0]) as Effect;
  const same = (key: 'reachesApp' | 'handles' | 'drains'): Answer =>
    effects.every((one) => one[key] === first[key]) ? first[key] : 'unknown';
  const isOpen = effects.some(({ handles, exitCodes: { good, cut } }) => handles !== 'no' && ![...good, ...cut].length);
  const codes = (key: 'good' | 'cut') => [...new Set(isOpen ? [] : effects.flatMap((one) => one.exitCodes[key]))];
  const isSame = effects.every((one) => answerText(one) === answerText(first));
  const decidedBy = [...new Set(ways.map(([label, effect]) => `${label}: ${answerText(effect)}`))].join('; ');
  return {
    ...first,
    reachesApp: same('reachesApp'),
    handles: same('handles'),
    drains: same('drains'),
    exitCodes: { good: codes('good'), cut: codes('cut') },
    probably: effects.some(({ probably }) => probably),
    ...(!isSame && { because: 'it depends on what is not visible here', decidedBy }),
    // Where the signal does not arrive, a limit of the application does not matter.
    remedy: (effects.find((one) => one.remedy && one.reachesApp === 'no') ?? effects.find((one) => one.remedy))?.remedy,
  };
}

function answerText({ reachesApp, handles, drains }: Effect): string {
  if (handles === 'no') return 'only SIGKILL ends it';
  if (reachesApp === 'no') return 'the application is cut off at once';
  if (reachesApp === 'unknown') return 'not known';
  return `the application gets the signal${drains === 'no' ? ' and is cut off' : ''}`;
}
