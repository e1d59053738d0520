/** Gates that must not pass without proof that the limit was kept. */
import { describe, expect, it } from 'vitest';
import { drains } from '../sim/plain-story.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { endedLikeLive } from '../../scripts/convert/end-like-live.ts';
import type { GateSpec } from '../../src/verdict/policy.ts';
import { reportOf } from '../../src/advice/report.ts';
import type { Raw } from '../helpers/cases.ts';
import {
  adding,
  alone,
  attached,
  changed,
  changesOf,
  editing,
  judged,
  listed,
  markedIn,
  storyObservations,
} from '../helpers/cases.ts';
import { observationsOf, traceOf } from '../helpers/recordings.ts';
import { asked, kubelet, pod } from '../helpers/story-changes.ts';

function gateOf(rawObservations: readonly RawObservation[], spec: GateSpec) {
  const trace = traceOf(observationsOf([...endedLikeLive(rawObservations)]));
  const [gate] = reportOf(trace, { gates: [spec], warnOnly: false })?.verdict.gates ?? [];
  if (!gate) throw new Error('no gate was judged');
  return gate;
}

describe('max-grace-used', () => {
  const half: GateSpec = { kind: 'max-grace-used', share: 0.5 };

  it.each([1500, 8000])(
    'counts a grace period that was lowered before the kubelet started, after %i ms',
    (noticeMs) => {
      const rawObservations = storyObservations({
        ...alone({ app: drains(1500) }),
        ...pod({ graceSeconds: 30 }),
        ...asked(null),
        later: [{ kind: 'delete', atMs: 400, graceSeconds: 1 }],
        ...kubelet({ noticeMs: [noticeMs, noticeMs] }),
      });
      expect(gateOf(rawObservations, half)).toMatchObject({ passed: false });
    },
  );

  it('counts the requested grace period if podexit may have missed that it was lowered', () => {
    const all = attached(
      storyObservations({
        ...alone({ app: drains(4300) }),
        ...pod({ graceSeconds: 30 }),
        trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 5 },
      }),
    );
    const { at, object } = markedIn(all);
    const events = changesOf(all, 'events').filter((one) => one.at < at + 400);
    const late = [
      ...all.filter((one) => one.kind === 'began').map((one) => ({ ...one, at: at + 400 })),
      listed(at + 405, 'pod', object),
      listed(at + 406, 'events', ...events.map((one) => one.object)),
      ...all.filter((one) => one.at > at + 406),
    ];
    expect(gateOf(late, half)).toMatchObject({ passed: false });
  });

  it('is not proven for a pod that disappeared during a gap', () => {
    const all = storyObservations(alone({ app: drains(2000) }));
    const from = markedIn(all).at + 500;
    const to = from + 40_000;
    const seen = all.filter((one) => one.at <= from || (one.kind !== 'changed' && one.kind !== 'dated'));
    const gap: RawObservation = { at: to, kind: 'gap', stream: 'pod', from, to, cause: 'expired' };
    const gate = gateOf(adding(seen, gap, listed(to, 'pod')), half);
    expect(gate).toMatchObject({ passed: false });
    expect(gate.message).toContain('not proven to be within the limit: it has no upper bound');
  });

  it('is an unknown share for a force-deleted pod, whose exit no status reports', () => {
    const all = storyObservations({
      ...alone({ app: drains(3000), logged: false }),
      later: [{ kind: 'delete', atMs: 500, graceSeconds: 0 }],
    });
    expect(gateOf(all, half).message).toMatch(/^app used an unknown share of its .* grace period, not proven/);
  });
});

describe('min-drain-lead', () => {
  const twoSeconds: GateSpec = { kind: 'min-drain-lead', ms: 2000 };
  const isSlices = (one: RawObservation): boolean => 'stream' in one && one.stream === 'endpointslices';

  /** EndpointSlices were not in sync when the DELETE was sent, and were first listed `afterMs` later. */
  function slicesListedLate(rawObservations: readonly RawObservation[], afterMs: number): RawObservation[] {
    const sent = rawObservations.find((one) => one.kind === 'requested')?.at ?? NaN;
    const to = sent + afterMs;
    const lists = rawObservations.flatMap((one) => (one.kind === 'listed' && isSlices(one) ? [...one.objects] : []));
    const last = changesOf(rawObservations, 'endpointslices').findLast((one) => one.at <= to);
    return [
      ...rawObservations.filter((one) => !isSlices(one) || one.at > to),
      {
        at: sent - 1,
        kind: 'gap',
        stream: 'endpointslices',
        from: sent - 1,
        to,
        cause: 'not-synced',
      } satisfies RawObservation,
      listed(to, 'endpointslices', ...(last ? [last.object] : lists)),
    ].sort((a, b) => a.at - b.at);
  }

  it.each([500, 1500])('is not proven if EndpointSlices were first listed %i ms after the DELETE', (afterMs) => {
    const gate = gateOf(slicesListedLate(storyObservations(alone({ app: drains(1000) })), afterMs), twoSeconds);
    expect(gate).toMatchObject({ passed: false });
    expect(gate.message).toContain('endpoints were not being watched when the pod was deleted');
  });

  it('is proven by the remaining endpoints only if every Service that selects the pod has one', () => {
    const rawObservations = slicesListedLate(
      storyObservations(alone({ app: drains(1000), preStop: { kind: 'sleep', seconds: 3 } })),
      3,
    );
    const withServices = (...more: Raw[]) =>
      rawObservations.map((one) =>
        one.kind === 'listed' && one.stream === 'services' ? { ...one, objects: [...one.objects, ...more] } : one,
      );
    const other = (selector?: Record<string, string>): Raw => ({
      kind: 'Service',
      metadata: { name: 'other', uid: 'other' },
      spec: selector ? { selector } : {},
      status: {},
    });
    expect(gateOf(rawObservations, twoSeconds)).toMatchObject({ passed: true });
    expect(gateOf(withServices(other()), twoSeconds)).toMatchObject({ passed: true });
    expect(gateOf(withServices(other({ app: 'api' })), twoSeconds)).toMatchObject({ passed: false });
  });

  /** Something other than the deletion makes the endpoint unready or removes it before the DELETE. */
  function unroutedEarlier(beforeMs: number, edit: (endpoints: Raw[]) => unknown[]): RawObservation[] {
    const rawObservations = storyObservations(alone({ app: drains(1000) }));
    const sent = rawObservations.find((one) => one.kind === 'requested')?.at ?? NaN;
    const [slice] = rawObservations.flatMap((one) =>
      one.kind === 'listed' && isSlices(one) ? (one.objects as Raw[]) : [],
    );
    if (!slice) throw new Error('there is no slice');
    const at = sent - beforeMs;
    const metadata = {
      ...slice.metadata,
      resourceVersion: `${Number(slice.metadata['resourceVersion']) + 1}`,
      managedFields: [],
    };
    const out = changed(at, 'endpointslices', { ...slice, metadata, endpoints: edit(slice['endpoints'] as Raw[]) });
    return editing(adding(rawObservations, out), 'endpointslices', (one, { at: when }) =>
      when < sent ? one : { ...one, endpoints: edit((one['endpoints'] ?? []) as Raw[]) },
    );
  }

  const unready = (endpoints: Raw[]) =>
    endpoints.map((one) => ({
      ...one,
      conditions: { ...(one['conditions'] as object), ready: false, serving: false },
    }));

  it.each([
    ['its readiness', unready],
    ['its labels', () => []],
  ])('counts from when the pod lost %s, even before the deletion', (_, edit) => {
    const gate = gateOf(unroutedEarlier(300, edit), twoSeconds);
    expect(gate).toMatchObject({ passed: false });
    expect(gate.message).toMatch(/^SIGTERM of app came .* after removal from Service api/);
    expect(gateOf(unroutedEarlier(300, edit), { kind: 'min-drain-lead', ms: 200 })).toMatchObject({ passed: true });
    expect(gateOf(unroutedEarlier(-2, edit), { kind: 'min-drain-lead', ms: 200 })).toMatchObject({ passed: false });
  });

  it.each([
    ['its readiness', unready],
    ['its labels', () => []],
  ])('is too short for load balancers if the pod lost %s just before the deletion', (_, edit) => {
    const { verdict, traffic } = judged(unroutedEarlier(300, edit));
    expect(traffic).toMatchObject({ judgement: 'at-risk' });
    expect(verdict.findings).toContainEqual(expect.objectContaining({ code: 'drain-race' }));
    expect(judged(unroutedEarlier(1200, edit)).traffic).not.toMatchObject({ judgement: 'at-risk' });
  });

  it('passes if there is nothing to observe: no Service selects the pod', () => {
    const all = storyObservations(alone({ app: drains(1000) })).filter(
      (one) => !('stream' in one && one.stream === 'services'),
    );
    const none = slicesListedLate(all, 500).filter((one) => one.kind === 'gap' || !isSlices(one));
    expect(gateOf(none, twoSeconds)).toMatchObject({ passed: true });
  });
});
