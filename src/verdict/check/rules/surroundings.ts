/** What stands around the exit: node, finalizers, owner, and what could not be read. */
import { controllerOf } from '../../../model/pod.ts';
import type { Finding } from '../../../model/report.ts';
import { list } from '../../words.ts';
import type { CheckFacts } from '../facts.ts';
import { cite } from '../facts.ts';

export const surroundingRules = (facts: CheckFacts): Finding[] => [
  ...finalizers(facts),
  ...nodeDown(facts),
  ...unmanaged(facts),
  ...unread(facts),
];

/** The Job controller sets it on each of its pods, and takes it away as soon as one has finished (SIGNALS.md §4). */
const ownToJobs = 'batch.kubernetes.io/job-tracking';

function finalizers(facts: CheckFacts): Finding[] {
  const set = (facts.pod.metadata.finalizers ?? []).filter((finalizer) => finalizer !== ownToJobs);
  if (set.length === 0) return [];
  return [
    {
      code: 'finalizer-held',
      severity: 'warning',
      message: `forecast: the finished pod stays until ${list(set)} ${set.length === 1 ? 'is' : 'are'} removed from its finalizers`,
      advice: `Make sure that ${set.length === 1 ? 'the controller behind it is' : 'the controllers behind them are'} running.`,
      evidence: cite(facts, 'pod'),
    },
  ];
}

function nodeDown(facts: CheckFacts): Finding[] {
  const ready = facts.node?.status.conditions?.find(({ type }) => type === 'Ready');
  if (!ready || ready.status === 'True') return [];
  return [
    {
      code: 'node-silent',
      severity: 'warning',
      message: `forecast: node ${facts.pod.spec.nodeName ?? ''} is not ready (${ready.status}), so nobody may be there to stop the containers`,
      advice: 'Look at the node first.',
      evidence: cite(facts, 'nodes'),
    },
  ];
}

function unmanaged(facts: CheckFacts): Finding[] {
  if (controllerOf(facts.pod)) return [];
  return [
    {
      code: 'unmanaged-pod',
      severity: 'info',
      message: 'forecast: no controller will replace the pod',
      advice: 'Let a Deployment, StatefulSet, DaemonSet or Job own it.',
      evidence: cite(facts, 'pod'),
    },
  ];
}

function unread(facts: CheckFacts): Finding[] {
  if (facts.refused.length === 0) return [];
  const resources = list(facts.refused.map(({ resource }) => resource));
  return [
    {
      code: 'evidence-lost',
      severity: 'warning',
      message: `${resources} could not be read, so that nothing is said about them`,
      advice: `Grant get and list of ${resources} for the whole picture.`,
      evidence: [],
    },
  ];
}
