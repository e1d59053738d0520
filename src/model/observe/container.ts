/** A container of a pod, reduced to what podexit may know: of its arguments only conclusions are kept. */
import { lineOfShell, commandsIn } from '../../programs/shell-script.ts';
import { secondsOf } from '../../programs/shell-words.ts';
import {
  asNumber,
  asObject,
  asPort,
  asSeconds,
  asString,
  asStrings,
  listWith,
  maybe,
  shape,
  asText,
  unlessEmpty,
  type JsonObject,
} from './read.ts';
import type { ProgramContainer } from '../../programs/behaviour.ts';

/** RFC 3339 as the API prints it: whole seconds, UTC, rounded down (SIGNALS.md trap 33). */
export type Stamp = string;

export type HookKind = 'exec' | 'httpGet' | 'sleep' | 'tcpSocket';

export type Handler = NonNullable<ReturnType<typeof narrowHandler>>;

const isThere = maybe(shape({}));

/** A lifecycle handler without its command, URL or headers. */
const narrowHandler = unlessEmpty(
  shape({
    exec: maybe(
      shape({
        /** A plain sleep, which signals nothing itself. */
        inert: (raw, exec) => raw === true || sleepOf(exec) !== undefined || undefined,
        seconds: (_raw, exec) => sleepOf(exec),
      }),
    ),
    httpGet: isThere,
    sleep: maybe(shape({ seconds: (raw) => asSeconds(raw) ?? 0 })),
    tcpSocket: isThere,
  }),
);

const sleepOf = ({ seconds, command }: JsonObject): number | undefined =>
  asNumber(seconds) ?? plainSleep(asStrings(command));

const portReader = maybe(shape({ port: asPort }));

export type Probe = ReturnType<typeof narrowProbe>;

const narrowProbe = shape({
  exec: isThere,
  httpGet: portReader,
  tcpSocket: portReader,
  grpc: portReader,
});

export type Container = ReturnType<typeof narrowContainer>;

export const narrowContainer = shape({
  name: asText,
  image: asString,
  /** `Always` on an init container makes it a sidecar. */
  restartPolicy: asString,
  lifecycle: unlessEmpty(shape({ preStop: narrowHandler, postStart: narrowHandler, stopSignal: asString })),
  readinessProbe: maybe(narrowProbe),
  /** Computed here: PID 1 starts as a shell with a command line, which rarely passes signals on if it stays a shell. */
  shell: noted((line) => !/(^|[;&|\n({]|\b(then|do|else)\b)\s*(exec|trap)\s/.test(line)),
  /** Computed here: that line has `trap "" TERM`; processes that it starts ignore SIGTERM too (this survives exec). */
  ignoresTerm: noted((line) => trapOf(line, 'TERM') === 'ignored'),
  /** Computed here: that line handles SIGTERM with a trap, which may take any time and print nothing. */
  handlesTerm: noted(trapRuns),
  /** Computed here: that line handles stop signals with a trap, and SIGTERM is none of them. */
  handlesOther: noted((line) => trapOf(line, 'TERM') === undefined && trappedOther(line) !== undefined),
  /** Computed here: the name of the program that its command starts, without folder and arguments. */
  program: (raw, { command }) => (asStrings(command)[0] ?? asString(raw))?.split('/').at(-1)?.slice(0, 64),
  ports: listWith('containerPort', shape({ name: asString, containerPort: asNumber })),
});

/** The seconds of `sleep 5`, also in a shell. Any other command may do anything: `kill -TERM 1`, or `sleep 1m30s`, which fails. */
export function plainSleep(command: readonly string[]): number | undefined {
  const line = lineOfShell(command);
  const { commands, isPlain } = line === undefined ? { commands: [command], isPlain: true } : commandsIn(line);
  const [words, ...others] = commands;
  if (words === undefined || others.length > 0 || !isPlain) return undefined;
  const typed = words.filter((word, index) => index > 0 || !/^(exec|env|.*\/env|busybox)$/.test(word));
  const [path = '', count = ''] = typed;
  const isSleep = typed.length === 2 && /^(\S*\/)?sleep$/.test(path) && /^[\d.]+[smhd]?$/.test(count);
  return isSleep ? secondsOf(count) : undefined;
}

/** Whether a container's `sh -c LINE` `isSo`, decided here as arguments are not kept; a recording has the result. */
function noted(isSo: (line: string) => boolean) {
  // Each change of a pod's status brings its lines again, and reading a script takes longer than all the rest.
  const known = new Map<string, boolean>();
  return (result: unknown, container: JsonObject): true | undefined => {
    const line = lineOfShell([...asStrings(container['command']), ...asStrings(container['args'])]) ?? '';
    if (known.size > 256) known.clear();
    if (!known.has(line)) known.set(line, line !== '' && line.length <= 4096 && isSo(line));
    return result === true || known.get(line) || undefined;
  };
}

const narrowTerminated = shape({
  exitCode: (raw) => asNumber(raw) ?? 0,
  reason: asString,
  startedAt: asString,
  finishedAt: asString,
});

export type ContainerState = ReturnType<typeof narrowState>;

/** The API server sets one of them. */
export const narrowState = shape({
  waiting: maybe(shape({ reason: asString })),
  running: maybe(shape({ startedAt: asString })),
  terminated: (raw) => (asNumber(asObject(raw)['exitCode']) === undefined ? undefined : narrowTerminated(raw)),
});

/** What a container's command line shows before it is dropped: recordings keep no arguments. */
export interface CommandLine extends ProgramContainer {
  command: readonly string[];
  args: readonly string[];
}

/** What the last trap for the signal at the top of the line says. What `trap : TERM` does depends on what follows it. */
export function trapOf(line: string, signal: string): 'ignored' | 'handled' | undefined {
  const traps = commandsIn(line).commands.filter(([name]) => name === 'trap');
  const last = traps.findLast((words) =>
    words.slice(2).some((one) => one.replace(/^SIG/, '') === signal || one === '15'),
  );
  const action = last?.[1]?.trim();
  if (action === undefined || action === '-' || action === ':') return undefined;
  return action === '' ? 'ignored' : 'handled';
}

/** A stop signal other than SIGTERM for which the line has a handler. */
const trappedOther = (line: string): string | undefined =>
  ['QUIT', 'INT', 'USR1', 'USR2', 'WINCH', 'HUP'].find((signal) => trapOf(line, signal) === 'handled');

/** The trap runs when the signal comes: not only after a program in the foreground has ended (POSIX.1-2017, 2.11). */
function trapRuns(line: string): boolean {
  const { commands, isPlain } = commandsIn(line);
  const [last = 'wait'] = commands.at(-1) ?? [];
  return trapOf(line, 'TERM') === 'handled' && (!isPlain || /^(wait|sleep|:|true|read)$/.test(last));
}
