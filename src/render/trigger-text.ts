/** Who deleted the pod, in a few words: on the card, in html and in warnings. */
import type { TriggerKind } from '../model/report.ts';

export const triggerText: Record<TriggerKind, string> = {
  'this-command': 'this command',
  'eviction-api': 'Eviction API',
  preemption: 'preempted by a higher-priority pod',
  taint: 'taint on its node',
  'device-taint': 'taint on a device',
  'pod-gc': 'pod garbage collection',
  rollout: 'rollout',
  'scale-down': 'scale-down',
  'owner-deleted': 'its owner was deleted',
  job: 'its Job',
  'namespace-deletion': 'its namespace was deleted',
  unknown: 'unknown client',
};
