/** A container of a pod, reduced to what podexit may know: of its arguments only conclusions are kept. */
import { shellLineOf, signalHandlingOf, trapOf } from './command-line.ts';
import {
  asArray,
  asBoolean,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  compact,
  nonEmpty,
  isPresent,
  maybe,
  shape,
  asText,
  unlessEmpty,
  type JsonObject,
} from './read.ts';

/** RFC 3339 as the API prints it: whole seconds, UTC, rounded down (SIGNALS.md trap 33). */
export type Stamp = string;

export type HookKind = 'exec' | 'httpGet' | 'sleep' | 'tcpSocket';

/**
 * A lifecycle handler without its command, URL or headers. `inert` is computed here: the exec is a plain sleep, so it
 * cannot have signalled the application itself.
 */
export interface Handler {
  exec?: { inert?: boolean; seconds?: number };
  httpGet?: Record<string, never>;
  sleep?: { seconds: number };
  tcpSocket?: Record<string, never>;
}

const portOf = (raw: unknown): number | string | undefined => asNumber(raw) ?? asString(raw);
const portReader = maybe(shape({ port: portOf }));

export type Probe = ReturnType<typeof narrowProbe>;

const narrowProbe = shape({
  exec: maybe(shape({})),
  httpGet: portReader,
  tcpSocket: portReader,
  grpc: portReader,
  periodSeconds: asSeconds,
  failureThreshold: asNumber,
});

export type Container = ReturnType<typeof narrowContainer>;

export const narrowContainer = shape({
  name: asText,
  image: asString,
  /** `Always` on an init container makes it a sidecar. */
  restartPolicy: asString,
  lifecycle: unlessEmpty(shape({ preStop: narrowHandler, stopSignal: asString })),
  readinessProbe: maybe(narrowProbe),
  /** Computed here: PID 1 starts as a shell with a command line, which rarely passes signals on if it stays a shell. */
  shell: (_, container) => isShell(container) || undefined,
  /** Computed here: that line has `trap "" TERM`; processes that it starts ignore SIGTERM too (this survives exec). */
  ignoresTerm: (_, container) => ignoresTerm(container) || undefined,
  /** Computed here: that line handles SIGTERM with a trap, which may take any time and print nothing. */
  handlesTerm: (_, container) => handlesTerm(container) || undefined,
  ports: (raw) => nonEmpty(asArray(raw, 64).flatMap(narrowContainerPort)),
});

function narrowHandler(raw: unknown): Handler | undefined {
  if (!isPresent(raw)) return undefined;
  const handler = asObject(raw);
  if (isPresent(handler['exec'])) {
    const exec = asObject(handler['exec']);
    const seconds = asNumber(exec['seconds']) ?? plainSleep(asStrings(exec['command']));
    const inert = asBoolean(exec['inert']) === true || seconds !== undefined;
    return { exec: compact({ inert: inert || undefined, seconds }) };
  }
  if (isPresent(handler['httpGet'])) return { httpGet: {} };
  if (isPresent(handler['sleep'])) return { sleep: { seconds: asSeconds(asObject(handler['sleep'])['seconds']) ?? 0 } };
  if (isPresent(handler['tcpSocket'])) return { tcpSocket: {} };
  return undefined;
}

/** The seconds of `sleep 5`, also in a shell. Any other command may do anything, for example `kill -TERM 1`. */
export function plainSleep(command: readonly string[]): number | undefined {
  const line = shellLineOf(command) ?? command.join(' ');
  const [, count, unit = 's'] =
    /^\s*(?:exec\s+)?(?:\/(?:usr\/)?bin\/)?sleep\s+(\d+(?:\.\d+)?)([smh]?)\s*;?\s*$/.exec(line) ?? [];
  return count === undefined ? undefined : Number(count) * (secondsPerUnit[unit] ?? 1);
}

const secondsPerUnit: Record<string, number> = { s: 1, m: 60, h: 3600 };

const wordsOf = ({ command, args }: JsonObject): string[] => asStrings(command).concat(asStrings(args));

/** The line of `sh -c LINE`. A longer one is a script that its first words say little about. */
const lineOf = (container: JsonObject): string | undefined => {
  const line = shellLineOf(wordsOf(container));
  return line === undefined || line.length > maxLineLength ? undefined : line;
};

const maxLineLength = 4096;

/** Decided here because arguments are not kept. */
function isShell(container: JsonObject): boolean {
  if (asBoolean(container['shell']) === true) return true;
  const line = lineOf(container);
  return line !== undefined && !/(^|[;&|]\s*)(exec|trap)\s/.test(line);
}

function ignoresTerm(container: JsonObject): boolean {
  const line = lineOf(container);
  return asBoolean(container['ignoresTerm']) === true || (line !== undefined && trapOf(line, 'TERM') === 'ignored');
}

function handlesTerm(container: JsonObject): boolean {
  if (asBoolean(container['handlesTerm']) === true) return true;
  const [command, args] = [asStrings(container['command']), asStrings(container['args'])];
  return lineOf(container) !== undefined && signalHandlingOf({ command, args }).kind === 'handles';
}

function narrowContainerPort(raw: unknown): { name?: string; containerPort: number }[] {
  const port = asObject(raw);
  const containerPort = asNumber(port['containerPort']);
  return containerPort === undefined ? [] : [compact({ name: asString(port['name']), containerPort })];
}

const narrowWaiting = shape({ reason: asString });
const narrowRunning = shape({ startedAt: asString });
const narrowTerminated = shape({
  exitCode: (raw) => asNumber(raw) ?? 0,
  reason: asString,
  startedAt: asString,
  finishedAt: asString,
});

export interface ContainerState {
  waiting?: ReturnType<typeof narrowWaiting>;
  running?: ReturnType<typeof narrowRunning>;
  terminated?: ReturnType<typeof narrowTerminated>;
}

export function narrowState(raw: unknown): ContainerState {
  const { terminated, running, waiting } = asObject(raw);
  if (asNumber(asObject(terminated)['exitCode']) !== undefined) return { terminated: narrowTerminated(terminated) };
  if (isPresent(running)) return { running: narrowRunning(running) };
  return isPresent(waiting) ? { waiting: narrowWaiting(waiting) } : {};
}
