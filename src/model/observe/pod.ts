import type { Container, ContainerState, ContainerStatus, Condition, Handler, Pod, Probe } from '../kube.ts';
import { narrowMetadata } from './metadata.ts';
import {
  asArray,
  asBoolean,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  compact,
  filled,
  has,
} from './read.ts';
import type { Json } from './read.ts';

/** A Pod, cut down to the allow-list of kube.ts. */
export function narrowPod(raw: unknown): Pod {
  const pod = asObject(raw);
  const spec = asObject(pod['spec']);
  const status = asObject(pod['status']);
  return {
    kind: 'Pod',
    metadata: narrowMetadata(pod['metadata']),
    spec: compact<Pod['spec']>({
      nodeName: asString(spec['nodeName']),
      terminationGracePeriodSeconds: asSeconds(spec['terminationGracePeriodSeconds']),
      runtimeClassName: asString(spec['runtimeClassName']),
      hostNetwork: asBoolean(spec['hostNetwork']) || undefined,
      restartPolicy: asString(spec['restartPolicy']),
      readinessGates: filled(asArray(spec['readinessGates'], 64).map(narrowGate)),
      initContainers: filled(named(spec['initContainers']).map(narrowContainer)),
      containers: named(spec['containers']).map(narrowContainer),
      ephemeralContainers: filled(named(spec['ephemeralContainers']).map(narrowContainer)),
    }),
    status: compact<Pod['status']>({
      phase: asString(status['phase']),
      reason: asString(status['reason']),
      observedGeneration: asNumber(status['observedGeneration']),
      nominatedNodeName: asString(status['nominatedNodeName']),
      conditions: filled(asArray(status['conditions'], 64).map(narrowCondition)),
      initContainerStatuses: filled(named(status['initContainerStatuses']).map(narrowStatus)),
      containerStatuses: filled(named(status['containerStatuses']).map(narrowStatus)),
      ephemeralContainerStatuses: filled(named(status['ephemeralContainerStatuses']).map(narrowStatus)),
    }),
  };
}

export function narrowCondition(raw: unknown): Condition {
  const condition = asObject(raw);
  return compact<Condition>({
    type: asString(condition['type']) ?? '',
    status: asString(condition['status']) ?? '',
    reason: asString(condition['reason']),
    lastTransitionTime: asString(condition['lastTransitionTime']),
  });
}

const named = (raw: unknown): Json[] =>
  asArray(raw, 256)
    .map(asObject)
    .filter((item) => asString(item['name']) !== undefined);

const narrowGate = (raw: unknown) => ({ conditionType: asString(asObject(raw)['conditionType']) ?? '' });

function narrowContainer(container: Json): Container {
  const lifecycle = asObject(container['lifecycle']);
  const preStop = narrowHandler(lifecycle['preStop']);
  const stopSignal = asString(lifecycle['stopSignal']);
  return compact<Container>({
    name: asString(container['name']) ?? '',
    image: asString(container['image']),
    restartPolicy: asString(container['restartPolicy']),
    lifecycle: preStop || stopSignal ? compact({ preStop, stopSignal }) : undefined,
    readinessProbe: narrowProbe(container['readinessProbe']),
    shell: isShell(container) || undefined,
    ignoresTerm: ignoresTerm(container) || undefined,
    ports: filled(asArray(container['ports'], 64).flatMap(narrowContainerPort)),
  });
}

function narrowHandler(raw: unknown): Handler | undefined {
  if (!has(raw)) return undefined;
  const handler = asObject(raw);
  if (has(handler['exec'])) {
    const exec = asObject(handler['exec']);
    const seconds = asNumber(exec['seconds']) ?? plainSleep(asStrings(exec['command']));
    const inert = asBoolean(exec['inert']) === true || seconds !== undefined;
    return { exec: compact({ inert: inert || undefined, seconds }) };
  }
  if (has(handler['httpGet'])) return { httpGet: {} };
  if (has(handler['sleep'])) return { sleep: { seconds: asSeconds(asObject(handler['sleep'])['seconds']) ?? 0 } };
  if (has(handler['tcpSocket'])) return { tcpSocket: {} };
  return undefined;
}

/** Seconds of `sleep 5`, also through a shell. Anything else may do anything, for example `kill -TERM 1`. */
export function plainSleep(command: readonly string[]): number | undefined {
  const line = isShellCommand(command) ? (command[2] ?? '') : command.join(' ');
  const [, count, unit = 's'] =
    /^\s*(?:exec\s+)?(?:\/(?:usr\/)?bin\/)?sleep\s+(\d+(?:\.\d+)?)([smh]?)\s*;?\s*$/.exec(line) ?? [];
  return count === undefined ? undefined : Number(count) * (secondsIn[unit] ?? 1);
}

const secondsIn: Record<string, number> = { s: 1, m: 60, h: 3600 };

const isShellCommand = (command: readonly string[]): boolean =>
  /^(\/(usr\/)?bin\/)?(ba|da|a|z|k)?sh$/.test(command[0] ?? '') && /^-\w*c$/.test(command[1] ?? '');

/** Judged here because arguments go no further than this mapping. */
function isShell(container: Json): boolean {
  if (asBoolean(container['shell']) === true) return true;
  const words = [...asStrings(container['command']), ...asStrings(container['args'])];
  return isShellCommand(words) && !/(^|[;&|]\s*)(exec|trap)\s/.test(words[2] ?? '');
}

/** Also judged here. The empty handler of a trap is `""` or `''`; a later `trap - TERM` would undo it. */
function ignoresTerm(container: Json): boolean {
  if (asBoolean(container['ignoresTerm']) === true) return true;
  const words = [...asStrings(container['command']), ...asStrings(container['args'])];
  if (!isShellCommand(words)) return false;
  const traps = [...(words[2] ?? '').matchAll(/\btrap\s+(?:--\s+)?(""|''|-|\S+|"[^"]*"|'[^']*')\s+([A-Z0-9 ]+)/g)];
  const last = traps.findLast(([, , signals = '']) => /\b(?:SIG)?TERM\b|\b15\b/.test(signals));
  return last?.[1] === '""' || last?.[1] === "''";
}

function narrowContainerPort(raw: unknown): { name?: string; containerPort: number }[] {
  const port = asObject(raw);
  const containerPort = asNumber(port['containerPort']);
  return containerPort === undefined ? [] : [compact({ name: asString(port['name']), containerPort })];
}

function narrowProbe(raw: unknown): Probe | undefined {
  if (!has(raw)) return undefined;
  const probe = asObject(raw);
  const port = (kind: string) =>
    has(probe[kind]) ? compact({ port: narrowPort(asObject(probe[kind])['port']) }) : undefined;
  return compact<Probe>({
    exec: has(probe['exec']) ? {} : undefined,
    httpGet: port('httpGet'),
    tcpSocket: port('tcpSocket'),
    grpc: port('grpc'),
    periodSeconds: asSeconds(probe['periodSeconds']),
    failureThreshold: asNumber(probe['failureThreshold']),
  });
}

const narrowPort = (raw: unknown): number | string | undefined => asNumber(raw) ?? asString(raw);

function narrowStatus(status: Json): ContainerStatus {
  return compact<ContainerStatus>({
    name: asString(status['name']) ?? '',
    ready: asBoolean(status['ready']) ?? false,
    restartCount: asNumber(status['restartCount']) ?? 0,
    state: narrowState(status['state']),
    lastState: has(status['lastState']) ? narrowState(status['lastState']) : undefined,
    containerID: /^[\w.-]{1,32}:\/\//.exec(asString(status['containerID']) ?? '')?.[0],
    stopSignal: asString(status['stopSignal']),
  });
}

function narrowState(raw: unknown): ContainerState {
  const state = asObject(raw);
  const waiting = asObject(state['waiting']);
  const running = asObject(state['running']);
  const terminated = asObject(state['terminated']);
  const exitCode = asNumber(terminated['exitCode']);
  if (has(state['terminated']) && exitCode !== undefined)
    return {
      terminated: compact({
        exitCode,
        reason: asString(terminated['reason']),
        startedAt: asString(terminated['startedAt']),
        finishedAt: asString(terminated['finishedAt']),
      }),
    };
  if (has(state['running'])) return { running: compact({ startedAt: asString(running['startedAt']) }) };
  if (has(state['waiting'])) return { waiting: compact({ reason: asString(waiting['reason']) }) };
  return {};
}
