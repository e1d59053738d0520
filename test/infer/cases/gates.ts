/** The edits and checks of gates.yaml. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import type { ExitReport } from '../../../src/model/report.ts';
import { reportOf } from '../../../src/advice/report.ts';
import type { GateSpec } from '../../../src/verdict/policy.ts';
import { endedLikeLive } from '../../../scripts/convert/end-like-live.ts';
import { adding, changed, changesOf, editing, listed, markedIn } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { observationsOf, traceOf } from '../../helpers/recordings.ts';
import type { Check, Edit } from './case.ts';

type Verdict = ExitReport['verdict'];

/** The verdict with these gates. */
export function verdictWith(rawObservations: readonly RawObservation[], gates: readonly GateSpec[]): Verdict {
  const trace = traceOf(observationsOf([...endedLikeLive(rawObservations)]));
  const verdict = reportOf(trace, { gates, warnOnly: false })?.verdict;
  if (!verdict) throw new Error('nothing was judged');
  return verdict;
}

const sentIn = (all: readonly RawObservation[]): number => all.find(({ kind }) => kind === 'requested')?.at ?? NaN;
const isOf = (one: RawObservation, stream: string): boolean => 'stream' in one && one.stream === stream;

/** The limit is in the middle of the interval. */
export const gateFailsWithinTheInterval: Check = ({ phases, grace }, rawObservations) => {
  const { min = NaN, max = NaN } = phases.find(({ name }) => name === 'drain')?.seconds ?? {};
  const share = (min + max) / 2 / grace.effectiveSeconds;
  expect(verdictWith(rawObservations, [{ kind: 'max-grace-used', share }]).gates).toMatchObject([{ passed: false }]);
};

/** The run starts 0.5 s after the deletion, and lists only the pod and the Services. */
export const attachedAfterItsEndpoint: Edit = (all) => {
  const { at, object } = markedIn(all);
  const began = all.filter(({ kind }) => kind === 'began');
  const later = all.filter((one) => one.kind !== 'began' && (one.at > at + 500 || isOf(one, 'services')));
  return [...began, ...adding(later, listed(at + 500, 'pod', object))];
};

/** EndpointSlices were not in sync when the DELETE was sent, and were first listed this long after it. */
export const slicesListedLate =
  (afterMs: number): Edit =>
  (all) => {
    const [from, to] = [sentIn(all) - 1, sentIn(all) + afterMs];
    const lists = all.flatMap((one) => (one.kind === 'listed' && isOf(one, 'endpointslices') ? one.objects : []));
    const last = changesOf(all, 'endpointslices').findLast((one) => one.at <= to);
    return adding(
      all.filter((one) => !isOf(one, 'endpointslices') || one.at > to),
      { at: from, kind: 'gap', stream: 'endpointslices', from, to, cause: 'not-synced' },
      listed(to, 'endpointslices', ...(last ? [last.object] : lists)),
    );
  };

/** The EndpointSlices only have gaps. */
export const slicesNeverListed: Edit = (all) => all.filter((one) => one.kind === 'gap' || !isOf(one, 'endpointslices'));

/** Something other than the deletion changes the endpoints this long before the DELETE. */
const endpointsEarlier =
  (beforeMs: number, edit: (endpoints: Raw[]) => unknown[]): Edit =>
  (all) => {
    const sent = sentIn(all);
    const [slice] = all.flatMap((one) =>
      one.kind === 'listed' && isOf(one, 'endpointslices') ? (one.objects as Raw[]) : [],
    );
    if (!slice) throw new Error('there is no slice');
    const resourceVersion = `${Number(slice.metadata['resourceVersion']) + 1}`;
    const metadata = { ...slice.metadata, resourceVersion, managedFields: [] };
    const endpoints = edit(slice['endpoints'] as Raw[]);
    const out = changed(sent - beforeMs, 'endpointslices', { ...slice, metadata, endpoints });
    return editing(adding(all, out), 'endpointslices', (one, { at }) =>
      at < sent ? one : { ...one, endpoints: edit((one['endpoints'] ?? []) as Raw[]) },
    );
  };

export const unreadyEarlier = (beforeMs: number): Edit =>
  endpointsEarlier(beforeMs, (endpoints) =>
    endpoints.map((one) => ({
      ...one,
      conditions: { ...(one['conditions'] as object), ready: false, serving: false },
    })),
  );
export const unlabelledEarlier = (beforeMs: number): Edit => endpointsEarlier(beforeMs, () => []);
