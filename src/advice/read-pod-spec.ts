/** A pod's spec → the containers of a ShutdownSpec. Untrusted: a value of the wrong type counts as absent. */
import type { V1Container, V1LifecycleHandler, V1PodSpec, V1Probe } from '@kubernetes/client-node';
import { plainSleep } from '../model/observe/container.ts';
import {
  asArray,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  asText,
  isPresent,
} from '../model/observe/read.ts';
import { commandsOf, shellLineOf } from '../model/observe/command-line.ts';
import type { ContainerSpec, Hook, Path, ProbeSpec } from './shutdown-spec.ts';

/** `mayRun`: for a live pod, whether a container runs or may run again; a template's containers all do. */
export function containersOf(
  spec: V1PodSpec | undefined,
  podPath: Path,
  mayRun: (name: string) => boolean = () => true,
): ContainerSpec[] {
  const read = (field: 'containers' | 'initContainers'): ContainerSpec[] =>
    asArray(asObject(spec)[field], 256).map((raw, index) => {
      const path = [...podPath, field, index];
      const container = containerOf(asObject(raw) as unknown as V1Container, path, field === 'initContainers');
      return { ...container, runs: mayRun(container.name) };
    });
  return [...read('containers'), ...read('initContainers')].filter(({ name }) => name !== '');
}

function containerOf(container: V1Container, path: Path, isInit: boolean): Omit<ContainerSpec, 'runs'> {
  const lifecycle = asObject(container.lifecycle);
  return {
    name: asText(container.name),
    kind: !isInit ? 'main' : container.restartPolicy === 'Always' ? 'sidecar' : 'init',
    path,
    image: asText(container.image),
    command: {
      command: asStrings(container.command),
      args: asStrings(container.args),
      noted: notedOf(asObject(container)),
    },
    hook: hookOf(lifecycle['preStop'] as V1LifecycleHandler | undefined),
    readiness: probeOf(container.readinessProbe),
    liveness: probeOf(container.livenessProbe),
    ports: asArray(container.ports, 256).map(asObject).flatMap(portOf),
    stopSignal: asString(lifecycle['stopSignal']),
  };
}

/** What a recording keeps of the command (model/observe/container.ts). */
function notedOf(container: Record<string, unknown>): ContainerSpec['command']['noted'] {
  if (container['ignoresTerm'] === true) return 'ignores';
  if (container['handlesTerm'] === true) return 'handles';
  return container['shell'] === true ? 'shell' : undefined;
}

function portOf(raw: Record<string, unknown>): ContainerSpec['ports'] {
  const port = asNumber(raw['containerPort']);
  if (port === undefined) return [];
  // The API takes a host port of 0 for none.
  const hostPort = asNumber(raw['hostPort']) || undefined;
  return [{ name: asString(raw['name']), port, protocol: asString(raw['protocol']) ?? 'TCP', hostPort }];
}

function hookOf(handler: V1LifecycleHandler | undefined): Hook | undefined {
  const raw = asObject(handler);
  const kind = (['exec', 'sleep', 'httpGet', 'tcpSocket'] as const).find((one) => isPresent(raw[one]));
  if (kind === 'exec') return execHook(asObject(raw['exec']));
  const minSeconds = kind === 'sleep' ? asSeconds(asObject(raw['sleep'])['seconds']) : undefined;
  return kind && { kind, command: [], minSeconds, isPlainSleep: kind === 'sleep' };
}

function execHook(exec: Record<string, unknown>): Hook {
  const command = asStrings(exec['command']);
  // A recording keeps only the seconds of a plain sleep, not the command.
  const plain = asNumber(exec['seconds']) ?? plainSleep(command);
  return { kind: 'exec', command, minSeconds: plain ?? sumOfSleeps(command), isPlainSleep: plain !== undefined };
}

/** The sum of the sleeps in a shell line; undefined without one, or if the line has a loop or a branch. */
function sumOfSleeps(command: readonly string[]): number | undefined {
  const line = shellLineOf(command);
  if (line === undefined || /(^|[\s;])(if|while|until|for|case)\s/.test(line)) return undefined;
  const seconds = commandsOf(line.replace(/'[^']*'|"[^"]*"/g, 'x')).flatMap(
    (one) => plainSleep(one.split(/\s+/)) ?? [],
  );
  return seconds.length > 0 ? seconds.reduce((sum, one) => sum + one, 0) : undefined;
}

function probeOf(probe: V1Probe | undefined): ProbeSpec | undefined {
  if (!isPresent(probe)) return undefined;
  return { graceSeconds: asSeconds(asObject(probe)['terminationGracePeriodSeconds']) };
}
