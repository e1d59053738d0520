/** A pod's spec as somebody wrote it → the containers of a ShutdownSpec. Nothing is trusted: a value of another type is as good as absent. */
import type { V1Container, V1LifecycleHandler, V1PodSpec, V1Probe } from '@kubernetes/client-node';
import { plainSleep } from '../model/observe/container.ts';
import { asArray, asNumber, asObject, asSeconds, asString, asStrings, has } from '../model/observe/read.ts';
import { commandsOf, shellLineOf } from './command-line.ts';
import type { ContainerSpec, Hook, Path, ProbeSpec } from './shutdown-spec.ts';

/** `isRunning` says it of a live pod's container; a template's containers all run. */
export function containersOf(
  spec: V1PodSpec | undefined,
  podPath: Path,
  isRunning: (name: string) => boolean = () => true,
): ContainerSpec[] {
  const read = (field: 'containers' | 'initContainers'): ContainerSpec[] =>
    asArray(asObject(spec)[field], 256).map((one, index) => {
      const path = [...podPath, field, index];
      const container = containerOf(asObject(one) as unknown as V1Container, path, field === 'initContainers');
      return { ...container, runs: isRunning(container.name) };
    });
  return [...read('containers'), ...read('initContainers')].filter(({ name }) => name !== '');
}

function containerOf(container: V1Container, path: Path, isInit: boolean): Omit<ContainerSpec, 'runs'> {
  const lifecycle = asObject(container.lifecycle);
  const notes = asObject(container);
  const noted = notes['ignoresTerm'] === true ? 'ignores' : notes['shell'] === true ? 'shell' : undefined;
  return {
    name: asString(container.name) ?? '',
    kind: !isInit ? 'main' : container.restartPolicy === 'Always' ? 'sidecar' : 'init',
    path,
    image: asString(container.image) ?? '',
    command: { command: asStrings(container.command), args: asStrings(container.args), noted },
    hook: hookOf(lifecycle['preStop'] as V1LifecycleHandler | undefined),
    readiness: probeOf(container.readinessProbe),
    liveness: probeOf(container.livenessProbe),
    ports: asArray(container.ports, 256).map(asObject).flatMap(portOf),
    stopSignal: asString(lifecycle['stopSignal']),
  };
}

function portOf(raw: Record<string, unknown>): ContainerSpec['ports'] {
  const port = asNumber(raw['containerPort']);
  // Services and probes of a shutdown speak TCP nearly always; a UDP port of the same number is not what they mean.
  if (port === undefined || raw['protocol'] === 'UDP') return [];
  return [{ name: asString(raw['name']), port, hostPort: asNumber(raw['hostPort']) }];
}

function hookOf(handler: V1LifecycleHandler | undefined): Hook | undefined {
  const raw = asObject(handler);
  const kind = (['exec', 'sleep', 'httpGet', 'tcpSocket'] as const).find((one) => has(raw[one]));
  if (kind === 'exec') return execHook(asObject(raw['exec']));
  const leastSeconds = kind === 'sleep' ? asSeconds(asObject(raw['sleep'])['seconds']) : undefined;
  return kind && { kind, command: [], leastSeconds, isPlainSleep: kind === 'sleep' };
}

function execHook(exec: Record<string, unknown>): Hook {
  const command = asStrings(exec['command']);
  // A recording keeps the seconds of a plain sleep, and no command.
  const plain = asNumber(exec['seconds']) ?? plainSleep(command);
  return { kind: 'exec', command, leastSeconds: plain ?? literalSleeps(command), isPlainSleep: plain !== undefined };
}

/** The sum of the sleeps that a hook's line waits for one after the other; a sleep in a loop or a branch does not count. */
function literalSleeps(command: readonly string[]): number | undefined {
  const line = shellLineOf(command);
  if (line === undefined || /(^|[\s;])(if|while|until|for|case)\s/.test(line)) return undefined;
  const seconds = commandsOf(line.replace(/'[^']*'|"[^"]*"/g, 'x')).flatMap(
    (one) => plainSleep(one.split(/\s+/)) ?? [],
  );
  return seconds.length > 0 ? seconds.reduce((sum, one) => sum + one, 0) : undefined;
}

function probeOf(probe: V1Probe | undefined): ProbeSpec | undefined {
  if (!has(probe)) return undefined;
  return { graceSeconds: asSeconds(asObject(probe)['terminationGracePeriodSeconds']) };
}
