/** The edits and checks of doubts.yaml and weaker.yaml. */
import { expect } from 'vitest';
import { adding, changesOf, editing, listed, markedIn, stampOf, type Raw } from '../../helpers/cases.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { timelineOf } from '../../../src/infer/conclude.ts';
import { observationsOf, traceOf } from '../../helpers/recordings.ts';
import type { Check, Edit } from './case.ts';
import { deletionIn, each, eachStatus, only, podBefore, statusesIn, arriving } from './edits.ts';

const logEndOf = (all: readonly RawObservation[]): number => all.find(({ kind }) => kind === 'log-ended')?.at ?? NaN;

/** The log breaks 0.2 s after the deletion. It is opened again 5 s after its end. */
export const logReopensLate: Edit = (all) =>
  adding(
    logBreaksAt(200)(all),
    { at: logEndOf(all) + 5000, kind: 'log-opened', container: 'app' },
    { at: logEndOf(all) + 5020, kind: 'log-ended', container: 'app', clean: true },
  );

/** The end of the log arrives 9 s late, 0.1 s after its broken connection was opened again. */
export const logEndsLateAfterBreak: Edit = (all) => {
  const late = logEndsLate(9000)(all);
  return adding(
    late,
    { at: logEndOf(late) - 9500, kind: 'log-ended', container: 'app', clean: false },
    { at: logEndOf(late) - 100, kind: 'log-opened', container: 'app' },
  );
};

/** The end of the log arrives 9 s late, as podexit itself had stood still. */
export const logEndsLateAfterStandstill: Edit = (all) => {
  const late = logEndsLate(9000)(all);
  const at = logEndOf(late);
  return late.toSpliced(
    late.findIndex(({ kind }) => kind === 'log-ended'),
    0,
    {
      ...{ at, kind: 'resumed', stream: 'logs', since: at - 10_000 },
    },
  );
};

/** From the end of the log on, everything arrives so many ms later. */
export const lateSinceLogEnd =
  (ms: number): Edit =>
  (all) =>
    adding(all.map((one) => (one.at < logEndOf(all) ? one : { ...one, at: one.at + ms })));

/** Each line of the log came after so many others. */
export const skipping =
  (lines: number): Edit =>
  (all) =>
    all.map((one) => (one.kind === 'line' ? { ...one, skipped: lines } : one));

/** podexit itself stood still from 1 s to 8 s after the deletion. */
export const stoodStill: Edit = (all) => {
  const { at } = deletionIn(all);
  const [since, to] = [at + 1000, at + 8000];
  const late = all.map((one) => (one.at > since && one.at < to ? { ...one, at: to } : one));
  const streams = ['pod', 'events', 'endpointslices'] as const;
  return adding(late, ...streams.map((stream): RawObservation => ({ at: to - 1, kind: 'resumed', stream, since })));
};

/** The server executes the first of two DELETEs late; the second response has the pod after the acknowledgment. */
export const sentTwice: Edit = (all) => {
  const request = all.find((one) => one.kind === 'requested');
  const answer = all.find((one) => one.kind === 'answered');
  if (!request || !answer) throw new Error('nothing was asked');
  const { resourceVersion } = markedIn(all).object.metadata;
  const later = changesOf(all, 'pod').find(
    ({ object: { metadata } }) =>
      metadata['deletionTimestamp'] !== undefined && metadata['resourceVersion'] !== resourceVersion,
  );
  return adding(
    all.filter((one) => one !== request && one !== answer),
    { ...request, at: request.at - 1000 },
    { at: request.at - 700, kind: 'looked', sentAt: request.at - 710, object: podBefore(all) },
    { ...request, at: request.at + 60 },
    { ...answer, at: request.at + 66, object: later?.object },
  );
};

/** The renewals of the Lease, or only the one of this number, arrive so many ms late. */
export const renewalsLate =
  (ms: number, which?: number): Edit =>
  (all) => {
    const one = which === undefined ? undefined : changesOf(all, 'lease')[which];
    const isLate = ({ kind, at, ...more }: RawObservation): boolean =>
      kind === 'changed' && 'stream' in more && more.stream === 'lease' && at === (one?.at ?? at);
    return adding(all.map((each) => (isLate(each) ? { ...each, at: each.at + ms } : each)));
  };

/** The Lease stream is resumed 8 s after its first renewal, which arrives just then. */
export const renewedAsItResumes: Edit = (all) => {
  const at = (changesOf(all, 'lease')[0]?.at ?? NaN) + 8000;
  const late = renewalsLate(8000, 0)(all);
  const resumed = { at, kind: 'resumed', stream: 'lease', since: at - 9000 } as const;
  return late.toSpliced(
    late.findIndex((one) => one.at >= at),
    0,
    resumed,
  );
};

/** The node's clock is set by so many seconds, 20 s after the deletion. */
export const nodeClockSet =
  (seconds: number): Edit =>
  (all) => {
    const since = deletionIn(all).at + 20_000;
    const shifted = (stamp: unknown) => new Date(Date.parse(String(stamp)) + seconds * 1000).toISOString();
    const leases = editing(all, 'lease', (lease, { at }) =>
      at < since ? lease : { ...lease, spec: { ...lease.spec, renewTime: shifted(lease.spec['renewTime']) } },
    );
    return eachStatus(({ state }) => {
      const end = state['terminated'] as { finishedAt: string } | undefined;
      if (end) end.finishedAt = `${shifted(end.finishedAt).slice(0, 19)}Z`;
    })(leases);
  };

/** The API server that stamps the Events is so many ms off. */
export const eventsStampedOff = (ms: number): Edit =>
  each('events', ({ metadata, ...event }) => {
    const creationTimestamp = stampOf(Date.parse(String(metadata['creationTimestamp'])) + ms);
    return { ...event, metadata: { ...metadata, creationTimestamp } };
  });

export const apiClockMayBeRight: Check = ({ clocks }) => {
  expect(clocks.api?.offsetMs.min).toBeLessThanOrEqual(0);
  expect(clocks.api?.offsetMs.max).toBeGreaterThanOrEqual(0);
};

/** No status reports the end of a container. */
export const endUnreported: Edit = (all) => {
  const { containerStatuses } = podBefore(all).status;
  return each('pod', (one) => ({ ...one, status: { ...one.status, containerStatuses } }))(all);
};

/** The status that acknowledges the deletion shows the exit too, as after a restart of another container. */
export const acknowledgedWithExit = only((one) => {
  if (one.kind !== 'changed' || one.stream !== 'pod') return true;
  const pod = one.object as Raw;
  return pod.status['observedGeneration'] !== 2 || !statusesIn(pod).some(({ state }) => 'running' in state);
});

/** The `Date` header of every answer, or only of this one, is so many seconds off. */
export const datesOff =
  (seconds: number, nth?: number): Edit =>
  (all) => {
    const answers = all.filter(({ kind }) => kind === 'dated');
    const isWrong = (one: RawObservation): boolean => nth === undefined || one === answers[nth];
    return all.map((one) => (one.kind === 'dated' && isWrong(one) ? { ...one, date: one.date + seconds * 1000 } : one));
  };

/** The first list has the node as Unknown, and its changes until `ms` do not arrive. */
export const unreachableBefore =
  (ms: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    return editing(all, 'node', (node, { kind, at: arrived }) => {
      if (kind === 'changed') return arrived < at + ms ? undefined : node;
      const ready = (node.status['conditions'] as Record<string, unknown>[]).find((one) => one['type'] === 'Ready');
      if (ready) ready['status'] = 'Unknown';
      return node;
    });
  };

/** The log opens only `ms` after the deletion. */
export const logOpensAfter =
  (ms: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const gap: RawObservation = { at, kind: 'gap', stream: 'logs', container: 'app', from: at, cause: 'not-synced' };
    const late = all.flatMap((one): RawObservation[] => {
      if (one.kind === 'log-opened') return [{ ...one, at: at + ms }];
      return one.kind === 'line' && one.at < at + ms ? [] : [one];
    });
    return adding(late, gap);
  };

/** The log breaks this long after the deletion. */
export const logBreaksAt =
  (ms: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const isLost = (one: RawObservation) => one.kind === 'log-ended' || (one.kind === 'line' && one.at > at + ms);
    return adding(
      all.filter((one) => !isLost(one)),
      { at: at + ms, kind: 'log-ended', container: 'app', clean: false },
    );
  };

/** The end of the log, or of that of one container, arrives so many ms late. */
export const logEndsLate = (ms: number, container?: string): Edit =>
  arriving((one) =>
    one.kind === 'log-ended' && (container ?? one.container) === one.container ? one.at + ms : one.at,
  );

export const contradictedExit: Check = (_, rawObservations) => {
  const { contradictions } = timelineOf(traceOf(observationsOf(rawObservations))) ?? {};
  expect(contradictions).toEqual([{ about: 'exit/app', because: 'finishedAt (§5)' }]);
};

export const printsOnlyNumbers: Check = (report) => expect(JSON.stringify(report)).not.toContain('NaN');

/** The kubelet has dropped the log. */
export const logDropped: Edit = (all) =>
  adding(all, {
    ...{ at: (all[0]?.at ?? 0) + 20, kind: 'refused', stream: 'logs', container: 'app', status: 404 },
    ...{ verb: 'get', resource: 'pods/log', group: '', message: 'not found' },
  });

/** The pod's stream brings nothing between these times, ms after the deletion; then a list no longer has the pod. */
export const goneIn =
  (fromMs: number, toMs: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const [from, to] = [at + fromMs, at + toMs];
    const seen = all.filter((one) => one.at <= from || one.kind !== 'changed' || one.stream !== 'pod');
    return adding(seen, { at: to, kind: 'gap', stream: 'pod', from, to, cause: 'expired' }, listed(to, 'pod'));
  };

/** Every Event has its fields under the names of events.k8s.io/v1. */
export const eventsInNewForm: Edit = (all) =>
  (['events', 'node-events', 'owner-events'] as const).reduce<readonly RawObservation[]>(
    (edited, stream) =>
      editing(edited, stream, ({ involvedObject, message, source, firstTimestamp, lastTimestamp, count, ...rest }) => ({
        ...rest,
        apiVersion: 'events.k8s.io/v1',
        regarding: involvedObject,
        note: message,
        reportingController: rest['reportingComponent'] || (source as { component?: string } | undefined)?.component,
        reportingComponent: undefined,
        deprecatedSource: source,
        deprecatedFirstTimestamp: firstTimestamp,
        deprecatedLastTimestamp: lastTimestamp,
        deprecatedCount: count,
      })),
    all,
  );
