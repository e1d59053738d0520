/** Rules about sidecars, liveness probes, finalizers, node and owner. */
import { imageName } from '../../programs/signals.ts';
import { at, note, ofContainer, signalled, warning, type Problem } from '../problem.ts';
import type { ContainerSpec } from '../container-spec.ts';
import type { Situation } from '../situation.ts';

/** Names of containers or images that only help the application: proxies, log shippers, agents. */
const helperNames =
  /^(istio-proxy|proxyv2|linkerd-proxy|envoy|envoy-sidecar|cloud-?sql-proxy|cloudsql-proxy|fluent-?bit|fluentd|filebeat|promtail|vector|vault-agent|consul-dataplane|consul-agent|otel-collector|opentelemetry-collector(-contrib)?|daprd|oauth2-proxy|kube-rbac-proxy|datadog-agent|logrotate|log-shipper|git-sync|config-reloader|prometheus-config-reloader|configmap-reload)$/;

/** In a pod of helpers only, each is an application. */
export function mainContainers(spec: Situation): { applications: ContainerSpec[]; helpers: ContainerSpec[] } {
  const mains = signalled(spec).filter(({ kind }) => kind === 'main');
  const isHelper = ({ name, image }: ContainerSpec) => helperNames.test(name) || helperNames.test(imageName(image));
  const applications = mains.filter((one) => !isHelper(one));
  return applications.length > 0
    ? { applications, helpers: mains.filter(isHelper) }
    : { applications: mains, helpers: [] };
}

/** A helper among the main containers gets its stop signal together with them and may be gone while they still drain. */
function classicSidecars(spec: Situation): Problem[] {
  const { helpers } = mainContainers(spec);
  const isJob = spec.subject.kind === 'Job' || spec.subject.kind === 'CronJob';
  const job = isJob ? ', and the Job does not complete while it runs' : '';
  const form = `is a classic sidecar (a main container): it gets its stop signal together with the application, which may still need it${job}`;
  const advice = 'Move it to initContainers with restartPolicy: Always: it is then stopped after the application.';
  return helpers.map((helper) => warning('classic-sidecar', `${helper.name} ${form}`, { ...at(helper), advice }));
}

/** Sidecars stop after the main containers. If no main container runs, they have the grace period to themselves. */
function sharedGrace(spec: Situation): Problem[] {
  const running = signalled(spec);
  const sidecars = running.filter(({ kind }) => kind === 'sidecar').map(({ name }) => name);
  if (spec.graceSeconds === 0 || sidecars.length === 0 || !running.some(({ kind }) => kind === 'main')) return [];
  const stop = `${sidecars.join(', ')} ${sidecars.length === 1 ? 'stops' : 'stop'} after the main containers`;
  const rest = `in the time that remains of the ${spec.graceSeconds}s grace period; containers that still run at its end are killed`;
  return [note('sidecar-killed', `${stop}, ${rest}`, { path: [...spec.podPath, 'initContainers'] })];
}

/** The kubelet stops the liveness probes of main containers at a deletion, not those of sidecars (SIGNALS.md §2 S4). */
const liveness = ofContainer((container) => {
  const { name, kind, hook, liveness: probe } = container;
  if (!probe) return undefined;
  const details = at(container, 'livenessProbe');
  const code = 'liveness-during-drain';
  const { graceSeconds } = probe;
  const hookSeconds = hook?.minSeconds;
  if (graceSeconds !== undefined && hookSeconds !== undefined && hookSeconds >= graceSeconds) {
    const message = `the liveness probe of ${name} restarts it with a grace period of ${graceSeconds}s, which its preStop hook of ${hookSeconds}s uses up`;
    return warning(code, message, {
      ...details,
      advice: "Raise the probe's terminationGracePeriodSeconds above the hook.",
    });
  }
  if (kind !== 'sidecar') return undefined;
  const message = `the liveness probe of sidecar ${name} goes on while the pod shuts down; its failures are reported as Events`;
  return note(code, message, details);
});

/** The Job controller sets this finalizer on its pods, and removes it as soon as a pod has finished (SIGNALS.md §4). */
const jobFinalizer = 'batch.kubernetes.io/job-tracking';

function finalizers(spec: Situation): Problem[] {
  const set = spec.finalizers.filter((finalizer) => finalizer !== jobFinalizer);
  if (set.length === 0) return [];
  const [is, controller] =
    set.length === 1 ? ['is', 'the controller behind it is'] : ['are', 'the controllers behind them are'];
  const message = `the finished pod stays until ${set.join(', ')} ${is} removed from its finalizers`;
  const advice = `Make sure that ${controller} running.`;
  return [warning('finalizer-held', message, { advice, path: ['metadata', 'finalizers'] })];
}

function node({ nodeNotReady }: Situation): Problem[] {
  if (!nodeNotReady) return [];
  const message = `node ${nodeNotReady.node} is not ready (${nodeNotReady.status}), so its kubelet may not stop the containers`;
  return [warning('node-silent', message, { advice: 'Look at the node first.', path: [] })];
}

function unmanaged({ isUnmanaged }: Situation): Problem[] {
  const advice = 'Let a Deployment, StatefulSet, DaemonSet or Job own it.';
  return isUnmanaged ? [note('unmanaged-pod', 'no controller will replace the pod', { advice, path: [] })] : [];
}

export const surroundingRules = [classicSidecars, sharedGrace, liveness, finalizers, node, unmanaged];
