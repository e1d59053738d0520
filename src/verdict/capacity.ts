/** Whether it was meant that nothing takes over from the pod: then no missing replica is worth a warning. Pure. */
import { controllerOf } from '../model/pod.ts';
import type { Scene } from './scene.ts';
import { isWholeDeletion } from './scene.ts';

/** A namespace or an owner was deleted, the workload was scaled to 0, the pod is a Job's, or it was deleted by force. */
export function isMeantToGo(scene: Scene): boolean {
  const { trigger, pod, workload } = scene.timeline;
  if (isWholeDeletion(scene) || trigger.kind === 'job' || controllerOf(pod)?.kind === 'Job') return true;
  if (workload?.kind === 'Job' || workload?.kind === 'CronJob' || workload?.replicas === 0) return true;
  return scene.exit.containers.some(({ ran, outcome }) => ran && outcome === 'abandoned');
}
