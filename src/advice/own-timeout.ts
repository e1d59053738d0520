/** The time that an application takes to stop by its own settings, as its arguments and environment show it. Pure. */
import { asArray, asText, shape } from '../model/observe/read.ts';
import type { CommandLine } from '../model/observe/command-line.ts';
import data from './data/own-timeouts.json' with { type: 'json' };
import { stopSignalOfImage } from '../programs/images.ts';
import { secondsOf } from '../programs/shell-words.ts';
import { stopBehaviour } from '../programs/stop-behaviour.ts';

export interface OwnTimeout {
  readonly seconds: number;
  /** The option or variable, without its value: `--graceful-timeout`; of a program's own limit also the program. */
  readonly from: string;
  /** It serves as before for a while, perhaps an unknown one. */
  readonly hasDelay: boolean;
}

/** The program's own limit, if it finishes its work within that. `stopSignal`: of the spec, with SIG. */
function ownLimitOf(line: CommandLine, stopSignal: string | undefined): OwnTimeout | undefined {
  const signal = stopSignal ?? stopSignalOfImage(line.image ?? '') ?? 'SIGTERM';
  const { handles, reachesApp, drains, limitSeconds, limitFrom, chain } = stopBehaviour(line, signal, Infinity);
  if (handles !== 'yes' || reachesApp !== 'yes' || drains === 'no' || limitSeconds === undefined) return undefined;
  const from = [`limit of ${chain.at(-1)?.name ?? 'its program'}`, limitFrom].filter(Boolean).join(', ');
  // Of a sum, the second part is the time in which it still accepts.
  const [, accepts = '(?!)'] = limitFrom?.split(' + ') ?? [];
  return { seconds: limitSeconds, from, hasDelay: new RegExp(`${accepts}[= ][1-9]`, 'i').test(line.args.join(' ')) };
}

/** With an empty value if that comes from elsewhere. */
export const variablesIn = (raw: unknown) => asArray(raw, 1000).map(shape({ name: asText, value: asText }));

/** A word for the end and a word for a time, in either order: `--shutdown-timeout`, `TIMEOUT_GRACEFUL_SHUTDOWN`. */
const [end, time] = [data.end, data.time].map((words) => `(${words.join('|')})`);
const isOwnTimeout = new RegExp(`${end}.*${time}|${time}.*${end}`, 'i');
/** Settings with these words are about something else than the stop of the application. */
const isOther = new RegExp(data.other.map(({ words }) => words).join('|'), 'i');
/** Where a bare number counts seconds: by the documents of the program that has the option, or by its name. */
const inSeconds = new RegExp(`^(${data.seconds.map(({ name }) => name).join('|')})$`, 'i');

/** A known delay and what comes after it, the longest of each. `hook`: what the preStop hook runs, unless that fails. */
export function ownTimeoutOf(line: CommandLine, hook: readonly string[] = [], stopSignal?: string): OwnTimeout {
  const typed = [...line.command, ...line.args, ...hook];
  const words = typed.flatMap((word) => (/\s/.test(word) ? word.split(/[\s;'"]+/) : word));
  const options = words.flatMap((word, at): [string, string][] => {
    const [, name = '', value] = /^--?([\w.-]+)(?:=(.*))?$/.exec(word) ?? /^-D([\w.-]+)=(.*)$/.exec(word) ?? [];
    return name === '' ? [] : [[word.split('=')[0] ?? word, value ?? words[at + 1] ?? '']];
  });
  const variables = (line.env ?? []).map((one): [string, string] => [one.replace(/=.*/, ''), one.replace(/^.*?=/, '')]);
  const [, ofPgCtl = ''] = /(?:^|[ /])pg_ctl (?=.*\bstop\b).*?-t (\S+)/.exec(words.join(' ').slice(0, 4000)) ?? [];
  const found = [...options, ['pg_ctl -t', ofPgCtl] as const, ...variables].flatMap(([from, value]) => {
    const seconds = timeOf(from, value);
    const counts = from === 'pg_ctl -t' || (isOwnTimeout.test(from) && !isOther.test(from));
    // `sleep $NAME` is the length of the hook.
    const isOfHook = hook.some((word) => new RegExp(`\\$[({]?${from.replace(/\W/g, '.')}\\b`).test(word));
    return counts && !isOfHook && seconds !== undefined ? [{ seconds, from, isDelay: /delay/i.test(from) }] : [];
  });
  const longest = [true, false].map((isDelay) => found.filter((one) => one.isDelay === isDelay && one.seconds > 0));
  const parts = longest.flatMap((some) => some.sort((a, b) => b.seconds - a.seconds)[0] ?? []);
  const [sum, from] = [parts.reduce((all, one) => all + one.seconds, 0), parts.map((one) => one.from).join(' and ')];
  const limit = sum > 0 ? undefined : ownLimitOf(line, stopSignal);
  return { seconds: sum, from, ...limit, hasDelay: limit?.hasDelay === true || found.some(({ isDelay }) => isDelay) };
}

/** From a second to a day. Elsewhere a bare number may be milliseconds, a port or a count: unknown, and 0 of a delay. */
function timeOf(from: string, value: string): number | undefined {
  const isMs = /m(illi)?s(ec(ond)?s?)?$/i.test(from.replace(/(secs|seconds)$/i, ''));
  const isBare = /^\d{1,8}$/.test(value);
  if (isBare && !isMs && !inSeconds.test(from)) return /delay/i.test(from) && Number(value) > 0 ? 0 : undefined;
  const seconds = isBare && isMs ? Number(value) / 1000 : secondsOf(value);
  return seconds !== undefined && seconds >= 1 && seconds <= 86_400 ? seconds : undefined;
}
