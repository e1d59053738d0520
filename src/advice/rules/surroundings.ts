/** Rules about sidecars, liveness probes, finalizers, node and owner. */
import { jobTracking } from '../../model/pod.ts';
import { list } from '../../verdict/words.ts';
import { at, note, ofContainer, signalled, warning, type Problem } from '../problem.ts';
import { isJob, rolesOf } from '../roles.ts';
import type { Situation } from '../situation.ts';

/** A helper among the main containers gets its stop signal together with them and may be gone while they still drain. */
function classicSidecars(spec: Situation): Problem[] {
  const { helpers } = rolesOf(spec);
  const job = isJob(spec) ? ', and the Job does not complete while it runs' : '';
  const form = `is a classic sidecar (a main container): it gets its stop signal together with the application, which may still need it${job}`;
  return helpers.map((helper) => warning('classic-sidecar', `${helper.name} ${form}`, at(helper)));
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

/** Where the pod may run, the node itself ends it earlier. */
function limitedGrace({ specGraceSeconds = 0, limits: [limit], podPath }: Situation): Problem[] {
  if (!limit || specGraceSeconds <= limit.seconds) return [];
  const message = `${limit.by} gives a pod only ${limit.seconds}s: the rest of its ${specGraceSeconds}s grace period may never come`;
  return [note('killed-at-grace', message, { path: [...podPath, 'terminationGracePeriodSeconds'] })];
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
    const message = `a restart by the liveness probe of ${name} cuts its preStop hook of ${hookSeconds}s off after ${graceSeconds}s`;
    return note(code, message, details);
  }
  if (kind !== 'sidecar') return undefined;
  const message = `the liveness probe of sidecar ${name} goes on while the pod shuts down; its failures are reported as Events`;
  return note(code, message, details);
});

/** A rule of one container restarts all in place, also sidecars, without hook, grace period and order (KEP-5532). */
const restartsOfAll = ofContainer((container, spec) => {
  const hooked = signalled(spec).filter(({ hook }) => hook);
  if (!container.restartRules.includes('RestartAllContainers') || hooked.length === 0) return undefined;
  const hooks = `the preStop ${hooked.length === 1 ? 'hook' : 'hooks'} of ${list(hooked.map(({ name }) => name))}`;
  const message = `an exit of ${container.name} that its restartPolicyRules name restarts all containers at once, without ${hooks} and without a grace period`;
  return note('prestop-cut-off', message, at(container, 'restartPolicyRules'));
});

function finalizers(spec: Situation): Problem[] {
  const set = spec.finalizers.filter((finalizer) => finalizer !== jobTracking);
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

export const surroundingRules = [
  ...[classicSidecars, sharedGrace, limitedGrace, liveness],
  ...[restartsOfAll, finalizers, node, unmanaged],
];
