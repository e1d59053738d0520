/** Whether it was meant that nothing takes over from the pod: then no missing replica is worth a warning. Pure. */
import { controllerOf } from '../model/pod.ts';
import type { RuleInput } from './rule-input.ts';
import { isWholeDeletion } from './rule-input.ts';

/** A namespace or an owner was deleted, the workload was scaled to 0, the pod is a Job's, or it was deleted by force. */
export function isMeantToGo(input: RuleInput): boolean {
  const { trigger, pod, workload } = input.timeline;
  if (isWholeDeletion(input) || trigger.kind === 'job' || controllerOf(pod)?.kind === 'Job') return true;
  if (workload?.kind === 'Job' || workload?.kind === 'CronJob' || workload?.replicas === 0) return true;
  return input.exit.containers.some(({ ran, outcome }) => ran && outcome === 'abandoned');
}
