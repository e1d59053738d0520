/** Findings of a check → edits of the object, each with its reason. What no edit can fix is left to a person. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asObject } from '../../model/observe/read.ts';
import { defaultPreStopSeconds, graceFor, unmeasuredDrain } from '../../verdict/shutdown-numbers.ts';
import { isProblem, type CheckCode, type CheckFinding } from '../finding.ts';
import type { ContainerSpec, Path, ShutdownSpec } from '../shutdown-spec.ts';

/** `why`: one short clause, which becomes a comment. */
export type Edit =
  | { kind: 'set'; path: Path; value: unknown; why: string }
  /** Moves a container to the init containers, as a sidecar. */
  | { kind: 'sidecar'; podPath: Path; name: string; why: string };

export interface Proposal {
  edits: Edit[];
  /** Findings that need a person, to change the program or another object, or to decide. */
  byHand: CheckFinding[];
}

export function proposalFor(object: KubernetesObject, spec: ShutdownSpec, findings: readonly CheckFinding[]): Proposal {
  const byHand: CheckFinding[] = [];
  const edits = findings.filter(isProblem).flatMap((finding) => {
    const { code } = finding;
    const container = spec.containers.find(({ name }) => name === finding.container);
    const found = editsByCode[code]?.({ object, spec, container }) ?? [];
    if (found.length === 0 && !fixedByLongerGrace.includes(code)) byHand.push(finding);
    return found;
  });
  const needsLongerGrace = findings.some(({ code }) => fixedByLongerGrace.includes(code));
  return { edits: unique([...edits, ...graceEdit(spec, edits, needsLongerGrace)]), byHand };
}

const set = (path: Path, value: unknown, why: string): Edit[] => [{ kind: 'set', path, value, why }];

const sleepHook = (path: Path, why: string): Edit[] =>
  set([...path, 'lifecycle', 'preStop'], { sleep: { seconds: defaultPreStopSeconds } }, why);

const rolling = (maxUnavailable: number, maxSurge: number) => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxUnavailable, maxSurge },
});

/** `container`: if the finding is about one. */
interface EditContext {
  object: KubernetesObject;
  spec: ShutdownSpec;
  container?: ContainerSpec;
}

const editsByCode: Partial<Record<CheckCode, (context: EditContext) => Edit[] | undefined>> = {
  'force-deleted': ({ spec }) =>
    set([...spec.podPath, graceField], 30, 'with 0 the object is removed before its containers have ended'),
  'last-endpoint': ({ object, spec }) =>
    object.kind === 'Deployment' && spec.replicas === 1 && !usesPvc(object)
      ? set(['spec', 'replicas'], 2, 'one replica leaves its Service without an endpoint')
      : [],
  'no-ready-endpoint': ({ object }) =>
    usesPvc(object) ? [] : set(['spec', 'strategy'], rolling(0, 1), 'a new pod is ready before an old one goes'),
  'host-network': ({ object }) =>
    object.kind === 'Deployment'
      ? set(['spec', 'strategy'], rolling(1, 0), "the old pod must release the node's ports first")
      : [],
  'drain-race': ({ container }) =>
    container &&
    sleepHook(
      container.path,
      `load balancers need time to stop sending requests; adjust ${defaultPreStopSeconds}s to yours`,
    ),
  'prestop-failed': ({ container }) => container && sleepHook(container.path, 'the hook that was here can never run'),
  'stays-ready': ({ container, spec }) => container && readinessEdit(spec, container),
  'stop-signal-mismatch': ({ container }) =>
    container?.stopSignal === undefined
      ? []
      : set([...container.path, 'lifecycle', 'stopSignal'], 'SIGTERM', 'the signal that it can handle'),
  'liveness-during-drain': ({ container }) => {
    const hookSeconds = container?.hook?.minSeconds;
    if (!container || hookSeconds === undefined) return [];
    const drainSeconds = unmeasuredDrain({ graceSeconds: 0, hookSeconds }, hookSeconds);
    const why = `a restart by this probe runs the preStop hook of ${hookSeconds}s too`;
    return set([...container.path, 'livenessProbe', graceField], graceFor({ hookSeconds, drainSeconds }), why);
  },
  'classic-sidecar': ({ container, spec }) => {
    const why = 'as a native sidecar it is stopped after the application (Kubernetes 1.29 and later)';
    return container && [{ kind: 'sidecar', podPath: spec.podPath, name: container.name, why }];
  },
};

const graceField = 'terminationGracePeriodSeconds';

/** Fixed by a longer grace period alone; `graceEdit` computes it for all containers at once. */
const fixedByLongerGrace: readonly CheckCode[] = ['prestop-cut-off', 'grace-nearly-spent', 'prestop-heavy'];

/** All containers share one grace period: the container that needs the most decides. */
function graceEdit(spec: ShutdownSpec, edits: readonly Edit[], needsLongerGrace: boolean): Edit[] {
  const newHooks = edits.flatMap((edit) => (edit.kind === 'set' && edit.path.at(-1) === 'preStop' ? [edit.path] : []));
  if (newHooks.length === 0 && !needsLongerGrace) return [];
  const needs = spec.containers.flatMap((container) => {
    const currentSeconds = container.hook?.minSeconds ?? 0;
    const getsHook = newHooks.some((path) => container.path.every((step, at) => path[at] === step));
    const hookSeconds = getsHook ? defaultPreStopSeconds : currentSeconds;
    if (hookSeconds === 0) return [];
    const drainSeconds = unmeasuredDrain({ graceSeconds: spec.graceSeconds, hookSeconds: currentSeconds }, hookSeconds);
    return [{ hookSeconds, seconds: graceFor({ hookSeconds, drainSeconds }) }];
  });
  const greatest = needs.sort((a, b) => b.seconds - a.seconds)[0];
  if (!greatest || greatest.seconds <= spec.graceSeconds) return [];
  const why = `the preStop hook of ${greatest.hookSeconds}s counts against it; the application keeps at least what it has today, and a quarter more`;
  return set([...spec.podPath, graceField], greatest.seconds, why);
}

function readinessEdit({ services }: ShutdownSpec, { path, ports }: ContainerSpec): Edit[] {
  const targets = services.flatMap(({ targetPorts }) => targetPorts);
  const declared = ports.find(({ name, port }) => targets.some((one) => one === name || one === port));
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
function unique(edits: readonly Edit[]): Edit[] {
  const keyOf = (edit: Edit): string => JSON.stringify(edit.kind === 'set' ? edit.path : [edit.kind, edit.name]);
  return [...new Map(edits.toReversed().map((edit) => [keyOf(edit), edit])).values()].toReversed();
}
