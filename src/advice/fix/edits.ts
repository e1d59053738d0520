/** What a check found → edits of the object, each with its reason; what no edit can mend is said to be for a person. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asObject } from '../../model/observe/read.ts';
import { defaultPreStopSeconds, graceFor, unmeasuredDrain } from '../../verdict/shutdown-numbers.ts';
import type { CheckCode, CheckFinding } from '../finding.ts';
import { isProblem } from '../finding.ts';
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

interface Case {
  object: KubernetesObject;
  spec: ShutdownSpec;
  container?: ContainerSpec;
}

export function proposalFor(object: KubernetesObject, spec: ShutdownSpec, findings: readonly CheckFinding[]): Proposal {
  const byHand: CheckFinding[] = [];
  const edits = findings.filter(isProblem).flatMap((finding) => {
    const container = spec.containers.find(({ name }) => name === finding.container);
    const found = remedies[finding.code]?.({ object, spec, container }) ?? [];
    if (found.length === 0 && !needLongerGrace.includes(finding.code)) byHand.push(finding);
    return found;
  });
  const isShort = findings.some(({ code }) => needLongerGrace.includes(code));
  return { edits: unique([...edits, ...graceEdit(spec, edits, isShort)]), byHand };
}

const sleepHook = (seconds: number) => ({ sleep: { seconds } });

const remedies: Partial<Record<CheckCode, (one: Case) => Edit[]>> = {
  'drain-race': ({ container }) =>
    container
      ? [
          {
            kind: 'set',
            path: [...container.path, 'lifecycle', 'preStop'],
            value: sleepHook(defaultPreStopSeconds),
            why: `load balancers need time to stop sending requests; adjust ${defaultPreStopSeconds}s to yours`,
          },
        ]
      : [],
  'prestop-failed': ({ container }) =>
    container
      ? [
          {
            kind: 'set',
            path: [...container.path, 'lifecycle', 'preStop'],
            value: sleepHook(defaultPreStopSeconds),
            why: 'the hook that was here can never run',
          },
        ]
      : [],
  'force-deleted': ({ spec }) => [
    {
      kind: 'set',
      path: [...spec.podPath, 'terminationGracePeriodSeconds'],
      value: 30,
      why: 'with 0 the object is removed before its containers have ended',
    },
  ],
  'stays-ready': ({ spec, container }) => readiness(spec, container),
  'stop-signal-mismatch': ({ container }) =>
    container?.stopSignal === undefined
      ? []
      : [
          {
            kind: 'set',
            path: [...container.path, 'lifecycle', 'stopSignal'],
            value: 'SIGTERM',
            why: 'the signal that it can handle',
          },
        ],
  'last-endpoint': ({ object, spec }) =>
    object.kind === 'Deployment' && spec.replicas === 1 && !ownsVolumes(object)
      ? [
          {
            kind: 'set',
            path: ['spec', 'replicas'],
            value: 2,
            why: 'one replica leaves its Service without an endpoint',
          },
        ]
      : [],
  'no-ready-endpoint': ({ object }) =>
    ownsVolumes(object)
      ? []
      : [
          {
            kind: 'set',
            path: ['spec', 'strategy'],
            value: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
            why: 'a new pod is ready before an old one goes',
          },
        ],
  'host-network': ({ object }) =>
    object.kind === 'Deployment'
      ? [
          {
            kind: 'set',
            path: ['spec', 'strategy'],
            value: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
            why: "the old pod must release the node's ports first",
          },
        ]
      : [],
  'liveness-during-drain': ({ container }) => {
    const hookSeconds = container?.hook?.leastSeconds;
    if (!container || hookSeconds === undefined) return [];
    const grace = graceFor({
      hookSeconds,
      drainSeconds: unmeasuredDrain({ graceSeconds: 0, hookSeconds }, hookSeconds),
    });
    return [
      {
        kind: 'set',
        path: [...container.path, 'livenessProbe', 'terminationGracePeriodSeconds'],
        value: grace,
        why: `a restart by this probe runs the preStop hook of ${hookSeconds}s too`,
      },
    ];
  },
  'classic-sidecar': ({ spec, container }) =>
    container
      ? [
          {
            kind: 'sidecar',
            podPath: spec.podPath,
            name: container.name,
            why: 'as a native sidecar it is stopped after the application (Kubernetes 1.29 and later)',
          },
        ]
      : [],
};

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
    return [{ hookSeconds, grace: graceFor({ hookSeconds, drainSeconds }) }];
  });
  const most = needs.sort((a, b) => b.grace - a.grace)[0];
  if (!most || most.grace <= spec.graceSeconds) return [];
  return [
    {
      kind: 'set',
      path: [...spec.podPath, 'terminationGracePeriodSeconds'],
      value: most.grace,
      why: `the preStop hook of ${most.hookSeconds}s counts against it; the application keeps what it has today, and a quarter more`,
    },
  ];
}

function readiness({ services }: ShutdownSpec, container: ContainerSpec | undefined): Edit[] {
  const targets = services.flatMap(({ ports }) => ports.map(({ targetPort }) => targetPort));
  const declared = container?.ports.find(({ name, port }) => targets.some((one) => one === name || one === port));
  const port = declared?.name ?? declared?.port ?? targets.find((one) => typeof one === 'number');
  if (!container || port === undefined) return [];
  return [
    {
      kind: 'set',
      path: [...container.path, 'readinessProbe'],
      value: { tcpSocket: { port }, periodSeconds: 5 },
      why: 'ready only once the port accepts connections; an HTTP check of your own says more',
    },
  ];
}

/** A volume that one pod at a time may write keeps a Deployment from having two. */
const ownsVolumes = (object: KubernetesObject): boolean =>
  asArray(asObject(asObject(asObject(asObject(object)['spec'])['template'])['spec'])['volumes'])
    .map(asObject)
    .some((volume) => volume['persistentVolumeClaim'] !== undefined);

/** Each field once. */
function unique(edits: readonly Edit[]): Edit[] {
  const keyOf = (edit: Edit): string => JSON.stringify(edit.kind === 'set' ? edit.path : [edit.kind, edit.name]);
  return [...new Map(edits.toReversed().map((edit) => [keyOf(edit), edit])).values()].toReversed();
}
