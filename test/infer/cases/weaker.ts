/** The edits and checks of weaker.yaml. */
import { timelineOf } from '../../../src/infer/conclude.ts';
import type { RawObservation, StreamName } from '../../../src/model/observation.ts';
import { adding, editing, slicesRefused } from '../../helpers/cases.ts';
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

/** The stream was cut at `from`; a list at `to` no longer has the pod. ms after the deletion. */
export const goneIn =
  (from: number, to: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const stream = 'pod' satisfies StreamName;
    const isLost = (one: RawObservation) => one.kind === 'changed' && one.stream === stream && one.at > at + from;
    return adding(
      all.filter((one) => !isLost(one)),
      { at: at + to, kind: 'gap', stream, from: at + from, to: at + to, cause: 'expired' },
      { at: at + to, kind: 'listed', stream, resourceVersion: '9999999', objects: [], name: 'batch-1' },
    );
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

/** A gap of this stream, which ends at `toMs` of the run. */
export const gapOf =
  (stream: StreamName, toMs?: number): Edit =>
  (all) => {
    const from = (all[0]?.at ?? 0) + 30;
    const to = toMs === undefined ? {} : { to: from - 30 + toMs };
    return adding(all, { at: from, kind: 'gap', stream, from, ...to, cause: 'disconnected' });
  };

export const slicesDenied: Edit = (all) => adding(all, slicesRefused((all[0]?.at ?? 0) + 20));

/** The kubelet has dropped the log. */
export const logDropped: Edit = (all) =>
  adding(all, {
    ...{ at: (all[0]?.at ?? 0) + 20, kind: 'refused', stream: 'logs', container: 'app', status: 404 },
    ...{ verb: 'get', resource: 'pods/log', group: '', message: 'not found' },
  });
