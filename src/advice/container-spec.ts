/** The containers of a pod's spec, as far as rules judge them. Untrusted: a value of the wrong type counts as absent. */
import { plainSleep, type CommandLine } from '../model/observe/container.ts';
import {
  asArray,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  asText,
  isPresent,
  type JsonObject,
  shape,
} from '../model/observe/read.ts';
import bare from './data/bare-images.json' with { type: 'json' };
import helpers from './data/helpers.json' with { type: 'json' };
import stops from './data/stop-commands.json' with { type: 'json' };
import { lineIn } from './mounted-scripts.ts';
import { imageName, rowOfImage, stopSignalOfImage } from '../programs/rows.ts';
import { commandsIn } from '../programs/shell-script.ts';
import { type SignalHandling } from './signal-handling.ts';
import ownTimeouts from './data/own-timeouts.json' with { type: 'json' };
import { secondsOf } from '../programs/shell-words.ts';
import { stopBehaviour } from '../programs/stop-behaviour.ts';

/** Keys and indexes from the root of an object down to one of its fields, as in `spec.containers[0].lifecycle`. */
export type Path = readonly (string | number)[];

export type Inspection =
  { kind: 'read'; command: string; handling: SignalHandling } | { kind: 'unreadable'; because: string };

/** Seconds; upper bounds. Absent: not measured, or not by a shutdown that went as it should. */
export interface MeasuredContainer {
  readonly hookSeconds?: number;
  readonly drainSeconds?: number;
  readonly wasKilled: boolean;
}

export interface ContainerSpec extends ReturnType<typeof containerOf> {
  inspection?: Inspection;
  /** Only in a live pod: it has terminated and is not restarted. */
  isOver?: boolean;
  /** `lifecycle.stopSignal` of a manifest, which most clusters drop; then `stopSignal` is absent. */
  declaredStopSignal?: string;
  measured?: MeasuredContainer;
}

type AroundOf = (container: JsonObject) => Pick<CommandLine, 'scripts' | 'sharesProcesses'>;

export const containerSpecsOf = (podSpec: unknown, podPath: Path, aroundOf?: AroundOf): ContainerSpec[] =>
  (['containers', 'initContainers'] as const)
    .flatMap((list) =>
      asArray(asObject(podSpec)[list], 256).map((one, index) =>
        containerOf(asObject(one), [...podPath, list, index], list === 'initContainers', aroundOf),
      ),
    )
    .filter(({ name }) => name !== '')
    .map((one, at, all) => {
      // By a name a Service targets the first container that has a port of it (`FindPort` of KK/api/v1/pod/util.go).
      const taken = all.slice(0, at).flatMap(({ ports }) => ports.map(({ name, protocol }) => `${name} ${protocol}`));
      const isTaken = ({ name, protocol }: (typeof one.ports)[0]): boolean => taken.includes(`${name} ${protocol}`);
      return { ...one, ports: one.ports.map((port) => (isTaken(port) ? { ...port, name: undefined } : port)) };
    });

function containerOf(container: JsonObject, path: Path, isInit: boolean, aroundOf: AroundOf | undefined) {
  const command = { ...commandOf(container), ...aroundOf?.(container) };
  const { preStop, stopSignal } = asObject(container['lifecycle']);
  const { livenessProbe, restartPolicy } = container;
  const [name, image] = [asText(container['name']), asText(container['image'])];
  const hook = hookOf(asObject(preStop), command);
  const timeout = ownTimeoutOf(command, hook?.fails ? [] : hook?.read, asString(stopSignal));
  return {
    name,
    kind: !isInit ? ('main' as const) : restartPolicy === 'Always' ? ('sidecar' as const) : ('init' as const),
    path,
    image,
    /** By the name of container or image: a proxy, log shipper, agent, exporter. */
    isNamedAsHelper: helpers.some((one) => [name, imageName(image)].includes(one)),
    command,
    hook,
    /** Its own, before that of the pod (since 1.35). */
    restartPolicy: asString(restartPolicy),
    hasReadinessProbe: isPresent(container['readinessProbe']),
    env: variablesIn(container['env']),
    mounts: asArray(container['volumeMounts'], 256) // Names of the volumes that it may write to.
      .map(asObject)
      .flatMap(({ name, readOnly }) => (readOnly === true ? [] : asText(name))),
    /** Resources of devices that it asks for, such as nvidia.com/gpu. */
    devices: Object.keys(asObject(asObject(container['resources'])['limits'])).filter(
      (name) => name.includes('/') && !/^(hugepages|requests|.*kubernetes\.io)/.test(name),
    ),
    ownTimeout: timeout.seconds > 0 ? timeout : undefined,
    hasOwnDelay: timeout.hasDelay,
    /** `graceSeconds`: the probe's own grace period for the restarts that it causes. */
    liveness: isPresent(livenessProbe)
      ? { graceSeconds: asSeconds(asObject(livenessProbe)['terminationGracePeriodSeconds']) }
      : undefined,
    ports: asArray(container['ports'], 256).map(asObject).flatMap(portOf),
    /** `lifecycle.stopSignal`, by name; needs a cluster with that feature. */
    stopSignal: asString(stopSignal),
  };
}

function commandOf({ command, args, image, env }: JsonObject): CommandLine {
  const variables = variablesIn(env).map(({ name, value }) => `${name}=${value.replace(/\s/g, ' ')}`);
  return { command: asStrings(command), args: asStrings(args), image: asString(image), env: variables };
}

function portOf(raw: JsonObject) {
  const port = asNumber(raw['containerPort']);
  if (port === undefined) return [];
  // The API takes a host port of 0 for none.
  const hostPort = asNumber(raw['hostPort']) || undefined;
  return [{ name: asString(raw['name']), port, protocol: asString(raw['protocol']) ?? 'TCP', hostPort }];
}

function hookOf(handler: JsonObject, own: CommandLine) {
  const kind = (['exec', 'sleep', 'httpGet', 'tcpSocket'] as const).find((one) => isPresent(handler[one]));
  if (!kind) return undefined;
  const { command: typed, seconds } = asObject(handler['exec']);
  const [command, image] = [asStrings(typed), own.image ?? ''];
  const isBare = new RegExp(bare.shows).test(image) || rowOfImage(image)?.base === 'none';
  const line = lineIn(command, isBare ? {} : own);
  const lacks = new RegExp(bare.lacks);
  // The kubelet has no code for a tcpSocket as a hook (SIGNALS.md trap 11).
  const tcpSocket = kind === 'tcpSocket' ? 'always fails: the kubelet runs no tcpSocket hooks' : undefined;
  // As `["sleep 15"]` and `["sh", "-c", "sleep", "15"]`. A path may have a space.
  const [first = '', ...others] = (command[0] ?? '').trim().split(/\s+/);
  const isSplit = others.length > 0 && (lacks.test(first) || others.some((one) => one.startsWith('-')));
  const isMisread = isSplit || /^(sleep|kill)$/.test(line ?? '');
  const words = `fails at once: exec neither splits nor joins the words of ${JSON.stringify(command)}`;
  const missing = `fails at once: \`${command[0]}\` is not in its distroless image`;
  const fails = isBare && lacks.test(command[0] ?? '') ? missing : isMisread ? words : tcpSocket;
  const found = line && !isMisread ? commandsIn(line) : { commands: [command], isPlain: true, atOnce: 1 };
  // Behind a test or an exit, a sleep is not certain, nor where the image may have no shell.
  const isUnsure = !found.isPlain || (!isBare && new RegExp(bare.mayShow).test(image));
  const open = isUnsure ? 0 : found.commands.findIndex(([name = '']) => /^(\[\[?|test|p?grep|exit|return)$/.test(name));
  const sleeps = found.commands.slice(0, open < 0 ? undefined : open).flatMap((one) => plainSleep(one) ?? []);
  const sum = sleeps.length > 0 ? sleeps.reduce((all, one) => all + one, 0) : undefined;
  // A recording keeps only the seconds of a plain sleep, not the command.
  const alone = asNumber(seconds) ?? (found.commands.length === 1 ? sum : undefined);
  const planned = kind === 'sleep' ? asSeconds(asObject(handler['sleep'])['seconds']) : (alone ?? sum);
  return {
    kind,
    command,
    line,
    read: line === undefined ? command : [line],
    /** The least time that the hook takes, if its definition shows it: a sleep, alone or among other commands. */
    minSeconds: fails ? undefined : planned,
    plannedSeconds: planned,
    isPlainSleep: kind === 'sleep' || alone !== undefined,
    ...stopIn(found.commands, found.atOnce),
    fails,
  };
}

/** `nginx -s quit`, `kill -TERM 1`, also in a shell. What a signal or a request does, its program decides. */
function stopIn(commands: readonly (readonly string[])[], atOnce: number) {
  const lines = commands.map((words) => words.join(' '));
  const stop = lines.findIndex((line) => stopCommand.test(line));
  const isFirst = stop < atOnce && !/\s(-w|--wait|--delay)[= ]?[1-9]/.test(lines[stop] ?? '');
  return {
    stops: stop >= 0,
    /** Before anything that takes time, so that nothing serves during the hook. */
    stopsServer: stop >= 0 && isFirst,
    mayStop: isSignal.test(lines[stop] ?? '') || /^(curl|wget) /.test(lines[stop] ?? ''),
    sendsOther: lines.some((line) => isSignal.test(line) && !stopCommand.test(line)),
  };
}

const isSignal = /^(exec )?(\S*\/)?(p?kill|killall5?) /;
const stopCommand = new RegExp(stops.map(({ command }) => command).join('|'), 'i');

/** The program's own limit, if it finishes its work within that. `stopSignal`: of the spec, with SIG. */
function ownLimitOf(line: CommandLine, stopSignal: string | undefined) {
  const signal = stopSignal ?? stopSignalOfImage(line.image ?? '') ?? 'SIGTERM';
  const { handles, reachesApp, drains, limitSeconds, limitFrom, chain } = stopBehaviour(line, signal, Infinity);
  if (handles !== 'yes' || reachesApp !== 'yes' || drains === 'no' || limitSeconds === undefined) return undefined;
  const from = [`limit of ${chain.at(-1)?.name ?? 'its program'}`, limitFrom].filter(Boolean).join(', ');
  return { seconds: limitSeconds, from };
}

/** With an empty value if that comes from elsewhere. */
const variablesIn = (raw: unknown) => asArray(raw, 1000).map(shape({ name: asText, value: asText }));

/** A word for the end and a word for a time, in either order: `--shutdown-timeout`, `TIMEOUT_GRACEFUL_SHUTDOWN`. */
const [end, time] = [ownTimeouts.end, ownTimeouts.time].map((words) => `(${words.join('|')})`);
const isOwnTimeout = new RegExp(`${end}.*${time}|${time}.*${end}`, 'i');
/** Settings with these words are about something else than the stop of the application. */
const isOther = new RegExp(ownTimeouts.other.map(({ words }) => words).join('|'), 'i');
/** Where a bare number counts seconds: by the documents of the program that has the option, or by its name. */
const inSeconds = new RegExp(`^(${ownTimeouts.seconds.map(({ name }) => name).join('|')})$`, 'i');

/**
 * The time that an application takes to stop by its own settings: a known delay and what comes after it, the longest of each.
 * `hook`: what the preStop hook runs, unless that fails. `from`: the setting. `hasDelay`: it serves as before for a while.
 */
function ownTimeoutOf(line: CommandLine, hook: readonly string[] = [], stopSignal?: string) {
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
  return { seconds: sum, from, ...limit, hasDelay: found.some(({ isDelay }) => isDelay) || acceptsFirst(line) };
}

/** As `lameduck 5s` of CoreDNS, a key in a file that it mounts, or an option: for a while it serves as before. */
const acceptsFirst = ({ command, args, scripts }: CommandLine): boolean =>
  [...command, ...args, ...(scripts?.values() ?? [])].some((text) => new RegExp(ownTimeouts.accepts, 'i').test(text));

/** From a second to a day. Elsewhere a bare number may be milliseconds, a port or a count: unknown, and 0 of a delay. */
function timeOf(from: string, value: string): number | undefined {
  const isMs = /m(illi)?s(ec(ond)?s?)?$/i.test(from.replace(/(secs|seconds)$/i, ''));
  const isBare = /^\d{1,8}$/.test(value);
  if (isBare && !isMs && !inSeconds.test(from)) return /delay/i.test(from) && Number(value) > 0 ? 0 : undefined;
  const seconds = isBare && isMs ? Number(value) / 1000 : secondsOf(value);
  return seconds !== undefined && seconds >= 1 && seconds <= 86_400 ? seconds : undefined;
}
