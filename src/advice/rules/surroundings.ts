/** Rules about sidecars, liveness probes, finalizers, node and owner. */
import { jobTracking } from '../../model/pod.ts';
import type { ContainerSpec } from '../container-spec.ts';
import { limitText } from '../sizes.ts';
import { at, note, ofContainer, warning, type Problem } from '../problem.ts';
import { isJob, onlyReports, rolesOf } from '../roles.ts';
import type { Situation } from '../situation.ts';

/** A helper among the main containers gets its stop signal together with them and may be gone while they still drain. */
function classicSidecars(spec: Situation): Problem[] {
  const job = isJob(spec) ? ', and the Job does not complete while it runs' : '';
  const form = `is a classic sidecar (a main container): it gets its stop signal together with the application, which may still need it${job}`;
  return rolesOf(spec)
    .helpers.filter((one) => (isJob(spec) ? !isEnded(spec) : !onlyReports(one)))
    .map((helper) => {
      const details = { ...at(helper), advice: sidecarAdvice(spec, helper) };
      return warning('classic-sidecar', `${helper.name} ${form}`, details);
    });
}

function sidecarAdvice({ injected }: Situation, { name }: ContainerSpec): string {
  const proxy = `First make the injected ${injected?.name} a native sidecar, if it is none (a classic one ends before ${name}, whose traffic it carries); then make`;
  const make = injected?.isOnPath ? proxy : 'Make';
  const how = 'an initContainer with restartPolicy Always, since Kubernetes 1.29';
  return `${make} ${name} a native sidecar (${how}), if it can start before the application: it is then stopped after it.`;
}

/** Its webhook adds it to the pod, as a main container or as a native sidecar: its settings decide. */
function injectedIntoJob(spec: Situation): Problem[] {
  if (!isJob(spec) || !spec.injected || isEnded(spec)) return [];
  const message = `${spec.injected.name} will be injected: unless it is a native sidecar, or something ends it, it runs on after the work, and the Job does not complete`;
  const advice = 'Have it injected as a native sidecar, let the work end it by its API, or decline it for this Job.';
  return [note('classic-sidecar', message, { advice, path: spec.podPath })];
}

/** The work of a Job ends its proxy itself, by the endpoint that the Cloud SQL proxy and Istio have for that. */
const isEnded = (spec: Situation): boolean =>
  rolesOf(spec).applications.some(({ command: { command, args } }) =>
    /quitquitquit/.test([...command, ...args].join()),
  );

function limitedGrace({ specGraceSeconds = 0, limits: [limit], podPath }: Situation): Problem[] {
  if (!limit || specGraceSeconds <= limit.seconds) return [];
  const message = `${limitText(limit)}: the rest of its ${specGraceSeconds}s grace period may never come`;
  return [note('killed-at-grace', message, { path: [...podPath, 'terminationGracePeriodSeconds'] })];
}

/** A restart by a probe has the probe's own grace period, in which the hook runs first. */
const liveness = ofContainer((container) => {
  const { graceSeconds = Infinity } = container.liveness ?? {};
  const hookSeconds = container.hook?.minSeconds ?? 0;
  if (hookSeconds < graceSeconds) return undefined;
  const message = `a restart by the liveness probe of ${container.name} cuts its preStop hook of ${hookSeconds}s off after ${graceSeconds}s`;
  return note('liveness-during-drain', message, at(container, 'livenessProbe'));
});

function finalizers(spec: Situation): Problem[] {
  const set = spec.finalizers.filter((finalizer) => finalizer !== jobTracking);
  if (set.length === 0) return [];
  const message = `the finished pod stays until its finalizers are removed: ${set.join(', ')}`;
  const advice = 'Make sure that the controllers behind its finalizers run.';
  return [warning('finalizer-held', message, { advice, path: ['metadata', 'finalizers'] })];
}

function node({ nodeNotReady }: Situation): Problem[] {
  if (!nodeNotReady) return [];
  const message = `node ${nodeNotReady.node} is not ready (${nodeNotReady.status}), so its kubelet may not stop the containers`;
  return [warning('node-silent', message, { advice: 'Look at the node first.', path: [] })];
}

const unmanaged = ({ isUnmanaged }: Situation): Problem[] =>
  isUnmanaged ? [note('unmanaged-pod', 'no controller will replace the pod', { path: [] })] : [];

export const surroundingRules = [classicSidecars, injectedIntoJob, limitedGrace, liveness, finalizers, node, unmanaged];
