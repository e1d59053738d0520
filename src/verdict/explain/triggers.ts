import type { TriggerKind } from '../../model/report.ts';
import type { Explanation } from './explanation.ts';

const nothing = 'Nothing.';
const condition = (reason: string): string =>
  `The condition DisruptionTarget with the reason ${reason} in the state that first bore a deletionTimestamp.`;
const added =
  'A pod that is terminating may be given the condition afterwards: where the first state was not seen itself, its stamp decides.';
const byEvent = "The controller's Event about this pod (SuccessfulDelete)";
const mayBeMissing =
  'Events may be merged, refused or late: then it is `unknown`. Where several causes fit, the last before the deletion counts, or none.';

/** What deleted the pod (trace/infer/trigger.ts, SIGNALS.md §4). Who sent a DELETE is stored nowhere. */
export const triggerTexts: Record<TriggerKind, Explanation> = {
  'this-command': {
    is: 'This command sent the DELETE that the pod was deleted by.',
    known: 'The answer to it, and the state that followed.',
    wrong:
      'A DELETE of somebody else at the very same moment looks the same; one that came before is found (deleted-before).',
    advice: nothing,
  },
  'eviction-api': {
    is: 'The pod was evicted through the API: by --evict, kubectl drain, an autoscaler.',
    known: `Our own request, or: ${condition('EvictionByEvictionAPI')}`,
    wrong: added,
    advice: 'A node that was cordoned as well is being drained; a PodDisruptionBudget limits how many go at once.',
  },
  preemption: {
    is: 'The scheduler made room for a pod of a higher priority.',
    known: `${condition('PreemptionByScheduler')} The Event Preempted goes with it.`,
    wrong: added,
    advice: 'Give the pod a higher PriorityClass, or the cluster more room.',
  },
  taint: {
    is: 'Its node got a taint with the effect NoExecute that the pod does not tolerate, or no longer.',
    known: `${condition('DeletionByTaintManager')} The Event TaintManagerEviction goes with it.`,
    wrong: added,
    advice: "Look at the node's taints and at the pod's tolerationSeconds.",
  },
  'device-taint': {
    is: 'A device that the pod uses (dynamic resource allocation) was tainted.',
    known: `${condition('DeletionByDeviceTaintManager')} The Event DeviceTaintManagerEviction goes with it.`,
    wrong: added,
    advice: "Look at the ResourceSlice's taints and at the claim's tolerations.",
  },
  'pod-gc': {
    is: 'The pod garbage collector removed it, with grace 0: its node is gone or out of service.',
    known: `${condition('DeletionByPodGC')} Or the phase Failed, and grace 0, over containers that nobody had stopped.`,
    wrong: 'What ran on the node is not known to have stopped.',
    advice: 'Look at what became of the node; a volume may still be attached there.',
  },
  rollout: {
    is: 'Its controller replaced it by a pod of another template.',
    known: `${byEvent}, with another template that came up, or that the owner has.`,
    wrong: mayBeMissing,
    advice: nothing,
  },
  'scale-down': {
    is: 'Its controller was asked to run fewer pods.',
    known: `${byEvent}, with a number of replicas that went down, or a place that is wanted no more; where no Event could arrive, the number alone.`,
    wrong: mayBeMissing,
    advice: 'Where nobody scaled, look for an autoscaler.',
  },
  'owner-deleted': {
    is: 'Its owner, or the owner of that, was deleted, and the garbage collector followed; so it may be with the pods of a Job whose ttlSecondsAfterFinished is over.',
    known: 'The owner was gone when the pod was marked, or within a second. No Event says so.',
    wrong: 'An owner that went at the same moment by chance looks the same.',
    advice: nothing,
  },
  job: {
    is: 'Its Job was done, failed or suspended, and stopped what still ran of it.',
    known: "The Job's conditions, or its Event (SuccessfulDelete).",
    wrong: `A Job past its ttlSecondsAfterFinished is deleted itself, and the garbage collector deletes its pods: that is the deletion of the owner, and shown as owner-deleted unless the end of the Job was seen too. ${mayBeMissing}`,
    advice: 'Look at the conditions of the Job.',
  },
  'namespace-deletion': {
    is: 'Its whole namespace is being deleted.',
    known: "The namespace's deletionTimestamp, which is not later than the pod's deletion.",
    wrong: 'Both are stamped in whole seconds: a deletion in the same second, for another reason, looks the same.',
    advice: nothing,
  },
  unknown: {
    is: 'Nothing that was seen tells what deleted the pod: most often somebody else with kubectl delete.',
    known: 'No condition, no Event and no owner explains it. Who sent a DELETE is stored nowhere in the cluster.',
    wrong: 'A cause may be there whose evidence was refused, or came before anybody watched.',
    advice: "Look into the API server's audit log; grant the rights to read owners and Events (deploy/rbac.yaml).",
  },
};
