/** What a check found → edits of the object, each with its reason; what no edit can mend is left to a person. Pure. */
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
  /** Findings that need a person: the program, another object, a decision. */
  byHand: CheckFinding[];
}

export function proposalFor(object: KubernetesObject, spec: ShutdownSpec, findings: readonly CheckFinding[]): Proposal {
  const byHand: CheckFinding[] = [];
  const edits = findings.filter(isProblem).flatMap((finding) => {
    const container = spec.containers.find(({ name }) => name === finding.container);
    const found =
      remedies[finding.code]?.({ object, spec }) ?? (container && ofContainer[finding.code]?.(container, spec)) ?? [];
    if (found.length === 0 && !needLongerGrace.includes(finding.code)) byHand.push(finding);
    return found;
  });
  const isShort = findings.some(({ code }) => needLongerGrace.includes(code));
  return { edits: unique([...edits, ...graceEdit(spec, edits, isShort)]), byHand };
}

const set = (path: Path, value: unknown, why: string): Edit[] => [{ kind: 'set', path, value, why }];

const sleepHook = ({ path }: ContainerSpec, why: string): Edit[] =>
  set([...path, 'lifecycle', 'preStop'], { sleep: { seconds: defaultPreStopSeconds } }, why);

const rolling = (maxUnavailable: number, maxSurge: number) => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxUnavailable, maxSurge },
});

interface Case {
  object: KubernetesObject;
  spec: ShutdownSpec;
}

/** Of findings about the whole object. */
const remedies: Partial<Record<CheckCode, (one: Case) => Edit[]>> = {
  'force-deleted': ({ spec }) =>
    set([...spec.podPath, grace], 30, 'with 0 the object is removed before its containers have ended'),
  'last-endpoint': ({ object, spec }) =>
    object.kind === 'Deployment' && spec.replicas === 1 && !ownsVolumes(object)
      ? set(['spec', 'replicas'], 2, 'one replica leaves its Service without an endpoint')
      : [],
  'no-ready-endpoint': ({ object }) =>
    ownsVolumes(object) ? [] : set(['spec', 'strategy'], rolling(0, 1), 'a new pod is ready before an old one goes'),
  'host-network': ({ object }) =>
    object.kind === 'Deployment'
      ? set(['spec', 'strategy'], rolling(1, 0), "the old pod must release the node's ports first")
      : [],
};

/** Of findings about one container. */
const ofContainer: Partial<Record<CheckCode, (container: ContainerSpec, spec: ShutdownSpec) => Edit[]>> = {
  'drain-race': (one) =>
    sleepHook(one, `load balancers need time to stop sending requests; adjust ${defaultPreStopSeconds}s to yours`),
  'prestop-failed': (one) => sleepHook(one, 'the hook that was here can never run'),
  'stays-ready': (one, spec) => readiness(spec, one),
  'stop-signal-mismatch': ({ stopSignal, path }) =>
    stopSignal === undefined
      ? []
      : set([...path, 'lifecycle', 'stopSignal'], 'SIGTERM', 'the signal that it can handle'),
  'liveness-during-drain': ({ hook, path }) => {
    const hookSeconds = hook?.leastSeconds;
    if (hookSeconds === undefined) return [];
    const drainSeconds = unmeasuredDrain({ graceSeconds: 0, hookSeconds }, hookSeconds);
    const why = `a restart by this probe runs the preStop hook of ${hookSeconds}s too`;
    return set([...path, 'livenessProbe', grace], graceFor({ hookSeconds, drainSeconds }), why);
  },
  'classic-sidecar': ({ name }, { podPath }) => {
    const why = 'as a native sidecar it is stopped after the application (Kubernetes 1.29 and later)';
    return [{ kind: 'sidecar', podPath, name, why }];
  },
};

const grace = 'terminationGracePeriodSeconds';

/** Mended by the grace period alone, which is worked out over all containers at once. */
const needLongerGrace: readonly CheckCode[] = ['prestop-cut-off', 'grace-nearly-spent', 'prestop-heavy'];

/** One grace period serves all containers: the one that needs most decides. */
function graceEdit(spec: ShutdownSpec, edits: readonly Edit[], isShort: boolean): Edit[] {
  const hooks = edits.flatMap((one) => (one.kind === 'set' && one.path.at(-1) === 'preStop' ? [one.path] : []));
  if (hooks.length === 0 && !isShort) return [];
  const needs = spec.containers.flatMap((one) => {
    const today = one.hook?.leastSeconds ?? 0;
    const added = hooks.some((path) => one.path.every((step, at) => path[at] === step));
    const hookSeconds = added ? defaultPreStopSeconds : today;
    if (hookSeconds === 0) return [];
    const drainSeconds = unmeasuredDrain({ graceSeconds: spec.graceSeconds, hookSeconds: today }, hookSeconds);
    return [{ hookSeconds, seconds: graceFor({ hookSeconds, drainSeconds }) }];
  });
  const most = needs.sort((a, b) => b.seconds - a.seconds)[0];
  if (!most || most.seconds <= spec.graceSeconds) return [];
  const why = `the preStop hook of ${most.hookSeconds}s counts against it; the application keeps at least what it has today, and a quarter more`;
  return set([...spec.podPath, grace], most.seconds, why);
}

function readiness({ services }: ShutdownSpec, { path, ports }: ContainerSpec): Edit[] {
  const targets = services.flatMap(({ targetPorts }) => targetPorts);
  const declared = ports.find(({ name, port }) => targets.some((one) => one === name || one === port));
  const port = declared?.name ?? declared?.port ?? targets.find((one) => typeof one === 'number');
  const why = 'ready only once the port accepts connections; an HTTP check of your own says more';
  return port === undefined ? [] : set([...path, 'readinessProbe'], { tcpSocket: { port }, periodSeconds: 5 }, why);
}

/** A volume that one pod at a time may write keeps a Deployment from having two. */
function ownsVolumes(object: KubernetesObject): boolean {
  const { template } = asObject(asObject(object)['spec']);
  const volumes = asArray(asObject(asObject(template)['spec'])['volumes']).map(asObject);
  return volumes.some((volume) => volume['persistentVolumeClaim'] !== undefined);
}

/** Each field once. */
function unique(edits: readonly Edit[]): Edit[] {
  const keyOf = (edit: Edit): string => JSON.stringify(edit.kind === 'set' ? edit.path : [edit.kind, edit.name]);
  return [...new Map(edits.toReversed().map((edit) => [keyOf(edit), edit])).values()].toReversed();
}
