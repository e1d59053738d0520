/** The time that an application takes to stop by its own settings, as its arguments and environment show it. Pure. */
import { asArray, asObject, asStrings, asText, shape, type JsonObject } from '../model/observe/read.ts';
import type { CommandLine } from '../model/observe/command-line.ts';
import { stopSignalOfImage } from '../programs/images.ts';
import { secondsOf } from '../programs/shell-words.ts';
import { stopBehaviour } from '../programs/stop-behaviour.ts';

export interface OwnTimeout {
  readonly seconds: number;
  /** Of these, how long it goes on serving as before after its signal. */
  readonly delaySeconds?: number;
  /** The option or variable, without its value: `--graceful-timeout`; of a program's own limit also the program. */
  readonly from: string;
}

/** The program's own limit, if it finishes its work within that. `stopSignal`: of the spec, with SIG. */
export function ownLimitOf(command: CommandLine, stopSignal: string | undefined): OwnTimeout | undefined {
  const signal = stopSignal ?? stopSignalOfImage(command.image ?? '') ?? 'SIGTERM';
  const { handles, reachesApp, drains, limitSeconds, limitFrom, chain } = stopBehaviour(command, signal, Infinity);
  if (handles !== 'yes' || reachesApp !== 'yes' || drains === 'no' || limitSeconds === undefined) return undefined;
  const from = [`limit of ${chain.at(-1)?.name ?? 'its program'}`, limitFrom].filter(Boolean).join(', ');
  return { seconds: limitSeconds, from };
}

/** With an empty value if that comes from elsewhere. */
export const variablesIn = (raw: unknown) => asArray(raw, 1000).map(shape({ name: asText, value: asText }));

/** A word for the end and a word for a time, in either order: `--shutdown-timeout`, `TIMEOUT_GRACEFUL_SHUTDOWN`. */
const end = '(graceful(ly)?|shutdown|terminat(e|ion|ing)|drain(ing)?|stop(ping)?)';
const time = '(timeout|period|duration|delay|wait|seconds|secs|time|grace)';
const isOwnTimeout = new RegExp(`${end}.*${time}|${time}.*${end}`, 'i');

/** Settings with these words are about something else than the stop of the application: envoy drains for a hot restart only. */
const isOther = /drain-time|liveness|readiness|startup|connect|request|http-?server-?read|idle|query|lock|retry|node/i;

/** A delay and what comes after it, the longest of each; undefined if none is set. */
export function ownTimeoutOf(container: JsonObject): OwnTimeout | undefined {
  const { exec } = asObject(asObject(container['lifecycle'])['preStop']);
  const words = [container['command'], container['args'], asObject(exec)['command']]
    .flatMap(asStrings)
    .flatMap((word) => (/\s/.test(word) ? word.split(/[\s;'"]+/) : word));
  const options = words.flatMap((word, at): [string, string][] => {
    const [, name = '', value] = /^--?([\w.-]+)(?:=(.*))?$/.exec(word) ?? /^-D([\w.-]+)=(.*)$/.exec(word) ?? [];
    return name === '' ? [] : [[word.split('=')[0] ?? word, value ?? words[at + 1] ?? '']];
  });
  const variables = variablesIn(container['env']).map(({ name, value }): [string, string] => [name, value]);
  const found = [...options, ...pgCtl(words), ...variables].flatMap(([from, value]) => {
    const seconds = timeOf(from, value);
    const counts = from === 'pg_ctl -t' || (isOwnTimeout.test(from) && !isOther.test(from));
    return counts && seconds !== undefined ? [{ seconds, from }] : [];
  });
  const longest = (isDelay: boolean): OwnTimeout | undefined =>
    found.filter(({ from }) => /delay/i.test(from) === isDelay).sort((a, b) => b.seconds - a.seconds)[0];
  const [delay, rest] = [longest(true), longest(false)];
  if (!delay) return rest;
  const from = [delay, rest].flatMap((one) => one?.from ?? []).join(' and ');
  return { seconds: delay.seconds + (rest?.seconds ?? 0), delaySeconds: delay.seconds, from };
}

/** `pg_ctl stop -t 60` */
function pgCtl(words: readonly string[]): [string, string][] {
  const at = words.findIndex((word) => /(^|\/)pg_ctl$/.test(word));
  const option = at < 0 ? -1 : words.indexOf('-t', at);
  return option < 0 || !words.slice(at).includes('stop') ? [] : [['pg_ctl -t', words[option + 1] ?? '']];
}

/** A bare number counts seconds, unless its name says ms or is that of Java's or Node's habit. At most a day. */
function timeOf(from: string, value: string): number | undefined {
  const bare = /^\d{1,8}$/.test(value);
  const isMs = /m(illi)?s(ec(ond)?s?)?$/i.test(from.replace(/(secs|seconds)$/i, ''));
  const seconds = bare ? Number(value) / (isMs || Number(value) >= 86_400 ? 1000 : 1) : secondsOf(value);
  return seconds !== undefined && seconds > 0 && seconds <= 86_400 ? seconds : undefined;
}
