/** Findings of a check → edits of the object, each with its reason. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asObject } from '../model/observe/read.ts';
import { defaultPreStopSeconds, graceFor, unmeasuredDrain } from '../verdict/shutdown-numbers.ts';
import { isProblem, signalled, type CheckCode, type Problem } from './problem.ts';
import { usesHostPorts } from './rules/service.ts';
import type { ContainerSpec, Path } from './container-spec.ts';
import type { Edit } from './fix/edit.ts';
import type { Situation } from './situation.ts';

export function editsFor(object: KubernetesObject, spec: Situation, findings: readonly Problem[]): Edit[] {
  const edits = findings.filter(isProblem).flatMap(({ code, container: name }) => {
    const container = spec.containers.find((one) => one.name === name);
    return editsByCode[code]?.({ object, spec, container }) ?? [];
  });
  // The longer of two grace periods comes first, and counts.
  return unique([...graceEdit(spec, edits), ...edits]);
}

const set = (path: Path, value: unknown, why: string): Edit[] => [{ kind: 'set', path, value, why }];

function sleepHook({ path, liveness }: ContainerSpec, why: string): Edit[] {
  const hook = set([...path, 'lifecycle', 'preStop'], { sleep: { seconds: defaultPreStopSeconds } }, why);
  const isProbeShort = (liveness?.graceSeconds ?? Infinity) <= defaultPreStopSeconds;
  return isProbeShort ? [...hook, ...probeGrace(path, defaultPreStopSeconds)] : hook;
}

function probeGrace(path: Path, hookSeconds: number): Edit[] {
  const drainSeconds = unmeasuredDrain({ graceSeconds: 0, hookSeconds }, hookSeconds);
  const why = `a restart by this probe runs the preStop hook of ${hookSeconds}s too`;
  return set([...path, 'livenessProbe', graceField], graceFor({ hookSeconds, drainSeconds }), why);
}

/** A new pod cannot start on a node where the old one still uses its ports. */
function strategyEdit({ object, spec }: EditContext): Edit[] {
  const staysSingle = spec.replicas === 1 && usesPvc(object);
  const rolling = (maxUnavailable: number, maxSurge: number, why: string): Edit[] =>
    set(['spec', 'strategy'], { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } }, why);
  if (usesHostPorts(spec))
    return staysSingle && spec.services.length > 0
      ? []
      : rolling(1, 0, "the old pod must release the node's ports first");
  return usesPvc(object) ? [] : rolling(0, 1, 'a new pod is ready before an old one goes');
}

/** `container`: if the finding is about one. */
interface EditContext {
  object: KubernetesObject;
  spec: Situation;
  container?: ContainerSpec;
}

const editsByCode: Partial<Record<CheckCode, (context: EditContext) => Edit[] | undefined>> = {
  'force-deleted': ({ spec }) =>
    set(
      [...spec.podPath, graceField],
      defaultGraceSeconds,
      'with 0 the object is removed before its containers have ended',
    ),
  'last-endpoint': ({ object, spec }) =>
    object.kind === 'Deployment' && spec.replicas === 1 && !usesPvc(object)
      ? set(['spec', 'replicas'], 2, 'one replica leaves its Service without an endpoint')
      : [],
  'no-ready-endpoint': strategyEdit,
  'host-network': strategyEdit,
  'drain-race': ({ container }) =>
    container &&
    sleepHook(
      container,
      `load balancers need time to stop sending requests; adjust ${defaultPreStopSeconds}s to yours`,
    ),
  'prestop-failed': ({ container }) => container && sleepHook(container, 'the hook that was here can never run'),
  'stays-ready': ({ container, spec }) => container && readinessEdit(spec, container),
  'stop-signal-mismatch': ({ container }) =>
    container?.stopSignal === undefined
      ? []
      : set([...container.path, 'lifecycle', 'stopSignal'], 'SIGTERM', 'the signal that it can handle'),
  'liveness-during-drain': ({ container }) => {
    const hookSeconds = container?.hook?.minSeconds;
    return container && hookSeconds !== undefined ? probeGrace(container.path, hookSeconds) : [];
  },
  'classic-sidecar': ({ container, spec }) => {
    const why = 'as a native sidecar it is stopped after the application (Kubernetes 1.29 and later)';
    if (!container) return [];
    const [path, to] = [
      [...spec.podPath, 'containers', container.name],
      [...spec.podPath, 'initContainers'],
    ];
    const restart = set([...container.path, 'restartPolicy'], 'Always', 'what makes it a sidecar');
    return [...restart, { kind: 'move', path, to, why }];
  },
};

const graceField = 'terminationGracePeriodSeconds';
const defaultGraceSeconds = 30;

/** All containers share one grace period: the container that needs the most decides. */
function graceEdit(spec: Situation, edits: readonly Edit[]): Edit[] {
  const graceSeconds = spec.graceSeconds === 0 ? defaultGraceSeconds : spec.graceSeconds;
  const newHooks = edits.map(({ path }) => path).filter((path) => path.at(-1) === 'preStop');
  const isHookHeavy = signalled(spec).some(({ hook }) => (hook?.minSeconds ?? 0) >= graceSeconds / 2);
  if (newHooks.length === 0 && !isHookHeavy) return [];
  const needs = spec.containers.flatMap((container) => {
    const currentSeconds = container.hook?.minSeconds ?? 0;
    const getsHook = newHooks.some((path) => container.path.every((step, at) => path[at] === step));
    const hookSeconds = getsHook ? defaultPreStopSeconds : currentSeconds;
    if (hookSeconds === 0) return [];
    const drainSeconds = unmeasuredDrain({ graceSeconds, hookSeconds: currentSeconds }, hookSeconds);
    return [{ hookSeconds, seconds: graceFor({ hookSeconds, drainSeconds }) }];
  });
  const greatest = needs.sort((a, b) => b.seconds - a.seconds)[0];
  if (!greatest || greatest.seconds <= graceSeconds) return [];
  const why = `the preStop hook of ${greatest.hookSeconds}s counts against it; the application keeps at least what it has today, and a quarter more`;
  return set([...spec.podPath, graceField], greatest.seconds, why);
}

function readinessEdit({ services }: Situation, { path, ports }: ContainerSpec): Edit[] {
  const tcp = ({ protocol }: { protocol: string }): boolean => protocol === 'TCP';
  const targets = services.flatMap(({ targetPorts }) => targetPorts.filter(tcp).map(({ port }) => port));
  const declared = ports.filter(tcp).find(({ name, port }) => targets.some((one) => one === name || one === port));
  const port = declared?.name ?? declared?.port ?? targets.find((one) => typeof one === 'number');
  const why = 'ready only once the port accepts connections; an HTTP check of your own says more';
  return port === undefined ? [] : set([...path, 'readinessProbe'], { tcpSocket: { port }, periodSeconds: 5 }, why);
}

/** A persistent volume may allow only one pod at a time, so a Deployment with one gets no second pod. */
function usesPvc(object: KubernetesObject): boolean {
  const { template } = asObject(asObject(object)['spec']);
  const volumes = asArray(asObject(asObject(template)['spec'])['volumes']).map(asObject);
  return volumes.some((volume) => volume['persistentVolumeClaim'] !== undefined);
}

/** Keeps the first edit of each field. */
const unique = (edits: readonly Edit[]): Edit[] =>
  [...new Map(edits.toReversed().map((edit) => [JSON.stringify(edit.path), edit])).values()].toReversed();
