/** Rules about sidecars, limits, finalizers and owner. */
import { jobTracking } from '../../model/pod.ts';
import { limitText } from '../sizes.ts';
import { at, note, warning, type Problem } from '../problem.ts';
import { isJob, onlyReports, rolesOf } from '../roles.ts';
import type { Situation } from '../situation.ts';

/** A helper among the main containers gets its stop signal together with them and may be gone while they still drain. */
function classicSidecars(spec: Situation): Problem[] {
  const job = isJob(spec) ? ', and the Job does not complete while it runs' : '';
  const form = `is a classic sidecar (a main container): it gets its stop signal together with the application, which may still need it${job}`;
  // The work ends it by the endpoint that the Cloud SQL proxy and Istio have for that.
  const isEnded = /quitquitquit/.test(JSON.stringify(spec.containers.map(({ command }) => command)));
  const how = 'an initContainer with restartPolicy Always, since Kubernetes 1.29';
  const alone = spec.injected ? ` and without ${spec.injected.name}, which is injected` : '';
  return rolesOf(spec)
    .helpers.filter((one) => (isJob(spec) ? !isEnded : !onlyReports(one)))
    .map((helper) => {
      const advice = `Make ${helper.name} a native sidecar (${how}), if it can start before the application${alone}: it is then stopped after it.`;
      return warning('classic-sidecar', `${helper.name} ${form}`, { ...at(helper), advice });
    });
}

function limitedGrace({ specGraceSeconds = 0, limits: [limit], podPath }: Situation): Problem[] {
  if (!limit || specGraceSeconds <= limit.seconds) return [];
  const message = `${limitText(limit)}: the rest of its ${specGraceSeconds}s grace period may never come`;
  return [note('killed-at-grace', message, { path: [...podPath, 'terminationGracePeriodSeconds'] })];
}

function finalizers(spec: Situation): Problem[] {
  const set = spec.finalizers.filter((finalizer) => finalizer !== jobTracking);
  if (set.length === 0) return [];
  const message = `the finished pod stays until its finalizers are removed: ${set.join(', ')}`;
  const advice = 'Make sure that the controllers behind its finalizers run.';
  return [warning('finalizer-held', message, { advice, path: ['metadata', 'finalizers'] })];
}

const unmanaged = ({ isUnmanaged }: Situation): Problem[] =>
  isUnmanaged ? [note('unmanaged-pod', 'no controller will replace the pod', { path: [] })] : [];

export const surroundingRules = [classicSidecars, limitedGrace, finalizers, unmanaged];
