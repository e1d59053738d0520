/** The edits and checks of weaker.yaml. */
import { timelineOf } from '../../../src/infer/conclude.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, editing, listed } from '../../helpers/cases.ts';
import { observationsOf, traceOf } from '../../helpers/recordings.ts';
import type { Check, Edit } from './case.ts';
import { arriving, deletionIn } from './edits.ts';
import { expect } from 'vitest';

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
