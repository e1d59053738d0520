/** The time that an application takes to stop by its own settings, as its arguments and environment show it. Pure. */
import { asArray, asObject, asStrings, asText, shape, type JsonObject } from '../model/observe/read.ts';
import type { CommandLine } from '../model/observe/command-line.ts';
import { stopSignalOfImage } from '../programs/images.ts';
import { secondsOf } from '../programs/shell-words.ts';
import { stopBehaviour } from '../programs/stop-behaviour.ts';

export interface OwnTimeout {
  readonly seconds: number;
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

/** Settings with these words are about something else than the stop of the application: pods that it makes, a hot restart of envoy. */
const isOther =
  /drain-time|liveness|readiness|startup|connect|request|http-?server-?read|idle|query|lock|retry|node|pod[-_]?terminat/i;

/** A known delay and what comes after it, the longest of each. `hasDelay`: it serves as before for a while, perhaps unknown. */
export function ownTimeoutOf(container: JsonObject): OwnTimeout & { hasDelay: boolean } {
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
    const counts = from === 'pg_ctl -t' || (isOwnTimeout.test(from) && !isOther.test(from.replace(/^CONNECT_/, '')));
    return counts && seconds !== undefined ? [{ seconds, from }] : [];
  });
  const isDelay = ({ from }: OwnTimeout): boolean => /delay/i.test(from);
  const parts = [found.filter(isDelay), found.filter((one) => !isDelay(one))].flatMap(
    (some) => some.filter(({ seconds }) => seconds > 0).sort((a, b) => b.seconds - a.seconds)[0] ?? [],
  );
  const from = parts.map((one) => one.from).join(' and ');
  return { seconds: parts.reduce((sum, { seconds }) => sum + seconds, 0), from, hasDelay: found.some(isDelay) };
}

/** `pg_ctl stop -t 60` */
function pgCtl(words: readonly string[]): [string, string][] {
  const at = words.findIndex((word) => /(^|\/)pg_ctl$/.test(word));
  const option = at < 0 ? -1 : words.indexOf('-t', at);
  return option < 0 || !words.slice(at).includes('stop') ? [] : [['pg_ctl -t', words[option + 1] ?? '']];
}

/** Where a bare number counts seconds: by the documents of the program that has the option, or by its name. */
const inSeconds =
  /^(pg_ctl -t|--graceful-timeout|(--|UVICORN_)timeout[-_]graceful[-_]shutdown|(N8N|SANIC|HASURA_GRAPHQL)_GRACEFUL_SHUTDOWN_TIMEOUT|GOOD_JOB_SHUTDOWN_TIMEOUT|RUNNER_GRACEFUL_STOP_TIMEOUT|STOP_SERVER_ANNOUNCE_DELAY|(-D)?quarkus[._]shutdown[._](timeout|delay))$|sec(ond)?s$/i;

/** From a second to a day. Elsewhere a bare number may be milliseconds, a port or a count: unknown, and 0 of a delay. */
function timeOf(from: string, value: string): number | undefined {
  const isMs = /m(illi)?s(ec(ond)?s?)?$/i.test(from.replace(/(secs|seconds)$/i, ''));
  const isBare = /^\d{1,8}$/.test(value);
  if (isBare && !isMs && !inSeconds.test(from)) return /delay/i.test(from) && Number(value) > 0 ? 0 : undefined;
  const seconds = isBare && isMs ? Number(value) / 1000 : secondsOf(value);
  return seconds !== undefined && seconds >= 1 && seconds <= 86_400 ? seconds : undefined;
}
