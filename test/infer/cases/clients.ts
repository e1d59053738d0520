/** The edits and checks of clients.yaml. */
import { expect } from 'vitest';
import { adding, changed, changesOf, editing, eventOf, linesOf, markedIn, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import type { Check, Edit } from './case.ts';
import { inList, podBefore } from './edits.ts';

interface Reported {
  /** The Event is about the pod's node. */
  node?: true;
  message?: string;
  component?: string;
  /** How long before the deletion it happened. */
  ms?: number;
}

/** An Event of a platform arrives, about the pod or its node. */
export const platformEvent =
  (reason: string, { node, message = 'text', component = 'kubelet', ms = 20 }: Reported): Edit =>
  (all) => {
    const { at, object: pod } = markedIn(all);
    const { name, uid } = pod.metadata;
    const about = node ? { kind: 'Node', name: String(pod.spec['nodeName']) } : { kind: 'Pod', name, uid };
    const event = eventOf(about, { reason, message, component }, { at: at - ms });
    return adding(all, changed(at + 30, node ? 'node-events' : 'events', event, 'ADDED'));
  };

export const namesNoClient: Check = ({ trigger }) => expect(trigger.note ?? '').not.toMatch(/^(by|after) /);

const loweredIn = (all: readonly RawObservation[]): number =>
  changesOf(all, 'owner').find(({ object }) => object['kind'] === 'Deployment')?.at ?? NaN;

/** The autoscaler reports this message, `ms` before the Deployment has its new number of replicas. */
export const rescaled =
  (name: string, message: string, ms = 5): Edit =>
  (all) => {
    const at = loweredIn(all) - ms;
    const what = { reason: 'SuccessfulRescale', message, component: 'horizontal-pod-autoscaler' };
    return adding(all, changed(at, 'owner-events', eventOf({ kind: 'HorizontalPodAutoscaler', name }, what, { at })));
  };

export const hasMoreEvidence: Check = (report, _, untouched) =>
  expect(report.trigger.evidence.length).toBeGreaterThan(untouched().trigger.evidence.length);

/** A pod of a newer template, created and perhaps ready at these client times. */
function newer(all: readonly RawObservation[], createdAt: number, readyAt?: number): Raw {
  const pod = podBefore(all);
  const hash = '5d9f7c';
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: `api-${hash}`,
    uid: `uid-${hash}`,
    controller: true,
  };
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: stampOf(readyAt ?? 0) };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name: `api-${hash}-newer`,
      uid: 'uid-newer',
      resourceVersion: readyAt === undefined ? '7' : '8',
      creationTimestamp: stampOf(createdAt),
      labels: { ...(pod.metadata['labels'] as object), 'pod-template-hash': hash },
      ownerReferences: [owner],
    },
    status: { phase: 'Pending', conditions: readyAt === undefined ? [] : [ready], containerStatuses: [] },
  };
}

const beginOf = (all: readonly RawObservation[]): number => all[0]?.at ?? 0;

/** A pod of a newer template was created, and perhaps became ready, this long before the start of the run. */
export const newerPod =
  (createdAgo: number, readyAgo?: number): Edit =>
  (all) => {
    const begin = beginOf(all);
    const ready = readyAgo === undefined ? undefined : begin - readyAgo;
    return inList('siblings', newer(all, begin - createdAgo, ready))(all);
  };

/** The newer pod became ready just before the Deployment wants fewer replicas. */
export const newerReadyBeforeLowering: Edit = (all) => {
  const begin = beginOf(all);
  return adding(all, changed(loweredIn(all) - 200, 'siblings', newer(all, begin - 100_000, begin)));
};

/** The Deployment scaled up the newer ReplicaSet this long before the start of the run. */
export const scaledUpBefore =
  (ago: number): Edit =>
  (all) => {
    const message = 'Scaled up replica set api-5d9f7c from 0 to 1';
    const what = { reason: 'ScalingReplicaSet', message, component: 'deployment-controller' };
    const event = eventOf({ kind: 'Deployment', name: 'api' }, what, { at: beginOf(all) - ago });
    return inList('owner-events', event)(all);
  };

const isDeployment = (one: Raw): boolean => one['kind'] === 'Deployment';
export const deploymentUnseen: Edit = (all) => editing(all, 'owner', (one) => (isDeployment(one) ? undefined : one));

export const evidenceHasBoth: Check = (report) => {
  expect(linesOf(report)).toContain('Deployment api scaled to 2');
  expect(report.trigger.evidence.length).toBeGreaterThanOrEqual(4);
};
