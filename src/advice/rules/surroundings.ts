/** Sidecars, liveness probes, finalizers, node and owner. */
import type { CheckFinding, Rule } from '../finding.ts';
import { isHelper } from '../images.ts';
import type { ShutdownSpec } from '../shutdown-spec.ts';
import { signalled } from './signals.ts';

/** A helper among the main containers gets SIGTERM with them, and may be gone while they still drain. */
function classicSidecars(spec: ShutdownSpec): CheckFinding[] {
  const mains = signalled(spec).filter(({ kind }) => kind === 'main');
  const helpers = mains.filter(({ name, image }) => isHelper(name, image));
  if (helpers.length === 0 || helpers.length === mains.length) return [];
  const isJob = spec.subject.kind === 'Job' || spec.subject.kind === 'CronJob';
  return helpers.map(({ name, path }) => ({
    code: 'classic-sidecar',
    severity: 'warning',
    container: name,
    message: `${name} is a sidecar in the classic form: it gets SIGTERM together with the application, which may still need it${isJob ? ', and keeps the Job from completing' : ''}`,
    advice: 'Move it to initContainers with restartPolicy: Always: it is then stopped after the application.',
    path,
  }));
}

/** A sidecar waits for no main container that does not run: then there is nobody to share with. */
function sharedGrace(spec: ShutdownSpec): CheckFinding[] {
  const running = signalled(spec);
  const sidecars = running.filter(({ kind }) => kind === 'sidecar');
  if (sidecars.length === 0 || !running.some(({ kind }) => kind === 'main')) return [];
  const names = sidecars.map(({ name }) => name).join(', ');
  return [
    {
      code: 'sidecar-killed',
      severity: 'info',
      message: `${names} ${sidecars.length === 1 ? 'stops' : 'stop'} after the main containers, within what these leave of the ${spec.graceSeconds}s; what then still runs is killed`,
      path: [...spec.podPath, 'initContainers'],
    },
  ];
}

/** The kubelet stops the liveness probes of main containers at a deletion, not those of sidecars (SIGNALS.md §2 S4). */
function liveness(spec: ShutdownSpec): CheckFinding[] {
  return signalled(spec).flatMap((one): CheckFinding[] => {
    const path = [...one.path, 'livenessProbe'];
    const base = { code: 'liveness-during-drain' as const, container: one.name, path };
    const own = one.liveness?.graceSeconds;
    const hook = one.hook?.leastSeconds;
    if (own !== undefined && hook !== undefined && hook >= own)
      return [
        {
          ...base,
          severity: 'warning',
          message: `the liveness probe of ${one.name} restarts it with a grace period of ${own}s, which its preStop hook of ${hook}s uses up`,
          advice: "Raise the probe's terminationGracePeriodSeconds above the hook.",
        },
      ];
    if (one.kind !== 'sidecar' || !one.liveness) return [];
    return [
      {
        ...base,
        severity: 'info',
        message: `the liveness probe of sidecar ${one.name} goes on while the pod shuts down; its failures are reported as Events`,
      },
    ];
  });
}

/** The Job controller sets it on each of its pods, and takes it away as soon as one has finished (SIGNALS.md §4). */
const ownToJobs = 'batch.kubernetes.io/job-tracking';

function finalizers(spec: ShutdownSpec): CheckFinding[] {
  const set = spec.finalizers.filter((finalizer) => finalizer !== ownToJobs);
  if (set.length === 0) return [];
  return [
    {
      code: 'finalizer-held',
      severity: 'warning',
      message: `the finished pod stays until ${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} removed from its finalizers`,
      advice: `Make sure that ${set.length === 1 ? 'the controller behind it is' : 'the controllers behind them are'} running.`,
      path: ['metadata', 'finalizers'],
    },
  ];
}

function node({ nodeNotReady }: ShutdownSpec): CheckFinding[] {
  if (!nodeNotReady) return [];
  return [
    {
      code: 'node-silent',
      severity: 'warning',
      message: `node ${nodeNotReady.node} is not ready (${nodeNotReady.status}), so its kubelet may not stop the containers`,
      advice: 'Look at the node first.',
      path: [],
    },
  ];
}

function unmanaged(spec: ShutdownSpec): CheckFinding[] {
  if (!spec.isUnmanaged) return [];
  return [
    {
      code: 'unmanaged-pod',
      severity: 'info',
      message: 'no controller will replace the pod',
      advice: 'Let a Deployment, StatefulSet, DaemonSet or Job own it.',
      path: [],
    },
  ];
}

export const surroundingRules: readonly Rule[] = [
  { about: 'a sidecar in the classic form', find: classicSidecars },
  { about: 'sidecars that share the grace period', find: sharedGrace },
  { about: 'liveness probes during a shutdown', find: liveness },
  { about: 'finalizers', find: finalizers },
  { about: 'a node that is not ready', find: node },
  { about: 'a pod without a controller', find: unmanaged },
];
