/** The edits and checks of replacements.yaml. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import {
  adding,
  changed,
  changesOf,
  editing,
  judged,
  listed,
  markedIn,
  markOf,
  stampOf,
  without,
  type Raw,
} from '../../helpers/cases.ts';
import type { Check, Edit } from './case.ts';
import { change, deletionIn, podBefore, statusesIn } from './edits.ts';

export const stepsAreMarks: Check = (report) => {
  const { replacement } = report;
  const steps = [replacement?.createdAt, replacement?.scheduledAt, replacement?.startedAt, replacement?.readyAt];
  const latest = steps.map((step) => Date.parse(step?.latest ?? ''));
  expect(latest).toEqual([...latest].sort((a, b) => a - b));
  expect(markOf(report, `replacement-scheduled/${replacement?.name}`).at).toEqual(replacement?.scheduledAt);
  expect(markOf(report, `replacement-started/${replacement?.name}`).at).toEqual(replacement?.startedAt);
  expect(steps.every((step) => step?.evidence.length)).toBe(true);
};

const eachOfReplacement =
  (edit: (pod: Raw) => void): Edit =>
  (all) => {
    const { uid } = judged(all).replacement ?? {};
    return editing(all, 'siblings', (pod) => {
      if (pod.metadata.uid === uid) edit(pod);
      return pod;
    });
  };

/** The replacement is on another node, whose clock is an hour ahead. */
export const replacementElsewhere = eachOfReplacement((pod) => {
  pod.spec['nodeName'] = 'another';
  for (const { state } of statusesIn(pod)) {
    const running = state['running'] as { startedAt: string } | undefined;
    if (running) running.startedAt = stampOf(Date.parse(running.startedAt) + 3_600_000);
  }
});

/** Another container of the replacement waits. */
export const replacementWaits = eachOfReplacement((pod) => {
  pod.spec['containers'] = [...(pod.spec['containers'] as object[]), { name: 'slow' }];
  statusesIn(pod).push({ name: 'slow', state: {} });
});

/** A living pod like this one, created at this time, whose state is so many versions newer. */
function siblingOf(like: Raw, name: string, createdAt: number, newer: bigint): Raw {
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = like.metadata;
  const resourceVersion = String(BigInt(String(metadata['resourceVersion'])) + newer);
  const own = { name, uid: name, creationTimestamp: stampOf(createdAt), resourceVersion };
  return { ...like, metadata: { ...metadata, ...own } };
}

/** The second of the deletion. */
const secondOf = ({ metadata }: Raw): number =>
  Date.parse(String(metadata['deletionTimestamp'])) - Number(metadata['deletionGracePeriodSeconds']) * 1000;

/** The only sibling that arrives was created 2 s after the second of the deletion. */
export const onlyALaterSibling: Edit = (all) => {
  const { at, pod } = deletionIn(all);
  const later = siblingOf(pod, 'checkout-later', secondOf(pod) + 2000, 1000n);
  return adding(without(all, 'siblings'), changed(at + 2600, 'siblings', later, 'ADDED'));
};

/** A sibling that was created in the second of the deletion is listed. */
export const siblingOfTheSameSecond: Edit = (all) => {
  const { at, pod } = deletionIn(all);
  return adding(all, listed(at + 2500, 'siblings', siblingOf(pod, 'checkout-same', secondOf(pod), 1000n)));
};

export const olderSibling: Edit = (all) => {
  const { at } = deletionIn(all);
  return adding(all, changed(at - 1000, 'siblings', siblingOf(podBefore(all), 'older', at - 2000, -5n), 'ADDED'));
};

/** Another pod comes and goes on the stream of the pod. */
export const foreignPod =
  (other: object): Edit =>
  (all) => {
    const { at, pod } = deletionIn(all);
    const foreign = { ...pod, metadata: { ...pod.metadata, ...other, uid: 'uid-of-somebody-else' } };
    return adding(all, changed(at + 500, 'pod', foreign, 'ADDED'), changed(at + 600, 'pod', foreign, 'DELETED'));
  };

const surgedIn = (all: readonly RawObservation[]): string | undefined => judged(all).replacement?.uid;

/** Another pod of the new template, created so many ms after the deletion. */
export const surge =
  (name: string, ms: number): Edit =>
  (all) => {
    const { at, pod } = deletionIn(all);
    const surged = changesOf(all, 'siblings').find(({ object }) => object.metadata.uid === surgedIn(all))
      ?.object as Raw;
    const { resourceVersion } = pod.metadata;
    const like = { ...surged, metadata: { ...surged.metadata, resourceVersion } };
    return adding(all, changed(at + ms, 'siblings', siblingOf(like, name, at + ms, BigInt(ms)), 'ADDED'));
  };

/** Another pod of its own template, created so many ms after the deletion. */
export const ofItsTemplate = (name: string, ms: number): Edit =>
  change(ms, 'siblings', ({ at, pod }) => siblingOf(pod, name, at + ms, BigInt(ms)), 'ADDED');

export const withoutSurge: Edit = (all) => {
  const uid = surgedIn(all);
  return all.filter(
    (one) => !(one.kind === 'changed' && one.stream === 'siblings' && (one.object as Raw).metadata.uid === uid),
  );
};

export const listedAlone: Edit = (all) => {
  const { at, pod } = deletionIn(all);
  return adding(all, listed(at - 900, 'siblings', pod));
};

export const waitingForReplacement: Edit = (all) =>
  all.map((one) => (one.kind === 'began' ? { ...one, waitReplacement: true } : one));

interface Other {
  name: string;
  node: string;
  /** Of a Job with indices. */
  index?: string;
}

/** While the pod drains, another pod of its owner is created and becomes ready. */
export const beside =
  ({ name, node, index }: Other): Edit =>
  (all) => {
    const withIndex = (one: Raw, own: string | undefined): Raw => {
      const labels = own === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': own };
      return { ...one, metadata: { ...one.metadata, labels } };
    };
    const labelled = editing(waitingForReplacement(all), 'pod', (one) => withIndex(one, '0'));
    const { at, object } = markedIn(labelled);
    const sibling = (ready: boolean, newer: bigint): Raw => ({
      ...withIndex(siblingOf(object, name, at + 900, newer), index),
      // A DaemonSet's pod has no node before it is bound.
      spec: { ...object.spec, nodeName: ready ? node : undefined },
      status: { phase: 'Pending', conditions: ready ? [{ type: 'Ready', status: 'True' }] : [] },
    });
    return adding(
      labelled,
      listed(at - 500, 'siblings'),
      changed(at + 900, 'siblings', sibling(false, 3n), 'ADDED'),
      changed(at + 2500, 'siblings', sibling(true, 6n)),
    );
  };

/** Where the pod ended, and where its removal arrives without a gap. */
function endsIn(all: readonly RawObservation[]) {
  const own = changesOf(all, 'pod');
  const gone = own.find((one) => one.change === 'DELETED');
  const done = own.find(({ object }) => object.status['phase'] === 'Succeeded');
  if (!gone || !done) throw new Error('the pod did not end');
  return { gone, done };
}

/** The streams of pods break 0.1 s after the pod has ended. 5 s after its removal a list has its successor. */
export const successorInList: Edit = (all) => {
  const { gone, done } = endsIn(all);
  const { name, uid } = gone.object.metadata;
  const came = changesOf(all, 'siblings').filter(
    ({ object: { metadata } }) => metadata.name === name && metadata.uid !== uid,
  );
  const [from, to] = [done.at + 100, gone.at + 5000];
  const listedAgain = (stream: 'pod' | 'siblings', at: number): RawObservation[] => [
    { at, kind: 'gap', stream, from, to: at, cause: 'expired' },
    { ...listed(at, stream, came.at(-1)?.object), ...(stream === 'pod' && { name }), sentAt: to - 5 },
  ];
  const isCut = (one: RawObservation): boolean =>
    one.kind === 'changed' && (one.stream === 'pod' || one.stream === 'siblings') && one.at > from;
  return adding(
    all.filter((one) => !isCut(one)),
    ...listedAgain('pod', to),
    ...listedAgain('siblings', to + 5),
  );
};
