/** What somebody did who wanted a false word about a kubelet, a slice or a stop signal. */
import { describe, expect, it } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { AppStory } from '../../sim/story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import {
  adding,
  alone,
  attached,
  changed,
  editing,
  findingCodes,
  hasMark,
  judged,
  markedIn,
  markOf,
  slicesRefused,
  stampOf,
  storyReport,
  told,
  without,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { pod, somebody } from '../../helpers/story-changes.ts';

describe('signs of the kubelet', () => {
  /** Before 1.35 no status tells that the kubelet knows of the deletion. */
  const unacknowledged = (one: Raw): Raw => {
    const { observedGeneration: _, ...status } = one.status;
    return { ...one, status };
  };

  it('are what the application says of its signal, where no Event can be made', () => {
    const slow = { ...alone({ app: drains(15000) }), ...pod({ graceSeconds: 30 }) };
    const sightings = told({ ...slow, trigger: { kind: 'namespace-deletion', atMs: 1240 } });
    const report = judged(editing(sightings, 'pod', unacknowledged));
    const { at } = markedIn(sightings);
    expect(findingCodes(report)).not.toContain('node-silent');
    expect(Date.parse(markOf(report, 'acknowledged').at.earliest)).toBeLessThanOrEqual(at);
    expect(Date.parse(markOf(report, 'acknowledged').at.latest)).toBeLessThan(at + 2000);
  });

  it('are the end itself where nothing else is, which says nothing of when it began', () => {
    const quiet = { ...drains(15000), saysOnSignal: undefined, lines: [] };
    const slow = { ...alone({ app: quiet }), ...pod({ graceSeconds: 30 }) };
    const sightings = without(told({ ...slow, ...somebody }), 'events');
    const report = judged(editing(sightings, 'pod', unacknowledged));
    const { at } = markedIn(sightings);
    expect(Date.parse(markOf(report, 'acknowledged').at.earliest)).toBeLessThanOrEqual(at);
  });

  it('are missed only where an Event or a status could have told them', () => {
    const quiet = { ...drains(15000), saysOnSignal: undefined, lines: [] };
    const all = told({ ...alone({ app: quiet }), ...pod({ graceSeconds: 30 }), ...somebody });
    const begin = all[0]?.at ?? 0;
    const { at } = markedIn(all);
    const refused: Sighting = { ...slicesRefused(begin), stream: 'events', resource: 'events', group: '' };
    const lost = (from: number): Sighting => ({ at: from, kind: 'gap', stream: 'events', from, cause: 'disconnected' });
    const silent = (...more: Sighting[]) =>
      findingCodes(judged(adding(editing(without(all, 'events'), 'pod', unacknowledged), ...more)));
    expect(silent()).toContain('node-silent');
    expect(silent(refused)).not.toContain('node-silent');
    expect(silent(lost(at + 2000))).not.toContain('node-silent');
    expect(silent(lost(at + 12_000))).toContain('node-silent');
  });

  it.each([true, false])('are not what PodGC writes of a node that is dead; managedFields: %s', (isManaged) => {
    const base = told({ faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 40000 });
    const { at, object } = markedIn(base);
    const version = BigInt(String(object.metadata['resourceVersion']));
    const managers = (time: number) => [
      { manager: 'kubelet', operation: 'Update', subresource: 'status', time: stampOf(at - 5000) },
      { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', time: stampOf(time) },
    ];
    const managed = (one: Raw, time: number): Raw => ({
      ...one,
      metadata: { ...one.metadata, managedFields: isManaged ? managers(time) : [] },
    });
    const generation = object.metadata['generation'];
    const swept = managed(
      {
        ...object,
        metadata: { ...object.metadata, resourceVersion: String(version + 100n) },
        status: { ...object.status, phase: 'Failed', observedGeneration: generation },
      },
      at + 30000,
    );
    const removed = { ...swept, metadata: { ...swept.metadata, resourceVersion: String(version + 101n) } };
    const early = editing(base, 'pod', (one) => managed(one, at - 60000)).filter((one) => one.at < at + 25000);
    const report = judged(
      adding(early, changed(at + 30000, 'pod', swept), changed(at + 30008, 'pod', removed, 'DELETED')),
    );
    expect(hasMark(report, 'acknowledged')).toBe(false);
    expect(findingCodes(report)).toContain('node-silent');
  });
});

it('an endpoint that moved to another slice before the deletion did not leave the first one because of it', () => {
  const base = attached(told({ trigger: { kind: 'unknown', atMs: 11240, graceSeconds: null } }));
  const { at } = markedIn(base);
  const [slice] = base.flatMap((one) =>
    one.kind === 'listed' && one.stream === 'endpointslices' ? (one.objects as Raw[]) : [],
  );
  if (!slice) throw new Error('no slice was listed');
  const named = (one: Raw, version: bigint): Raw => ({
    ...one,
    metadata: { ...one.metadata, name: 'second', uid: 'second', resourceVersion: String(version) },
  });
  const emptied = { ...slice, endpoints: [], metadata: { ...slice.metadata, resourceVersion: '900001' } };
  const moved = editing(base, 'endpointslices', (one, sighting) =>
    sighting.kind === 'changed' ? named(one, 900010n + BigInt(sighting.at - at + 9000)) : one,
  );
  const report = judged(
    adding(
      moved,
      changed(at - 8000, 'endpointslices', named(slice, 900000n), 'ADDED'),
      changed(at - 7999, 'endpointslices', emptied),
    ),
  );
  expect(report.endpoints.map((endpoint) => endpoint.slice)).toEqual(['second']);
  expect(report.phases.filter(({ name }) => name === 'route-removal').map(({ subject }) => subject)).toEqual([
    'second',
  ]);
});

it('SIGKILL may be the stop signal of an image', () => {
  const dies: AppStory = { onSignal: { kind: 'exits', afterMs: 2, code: 137 }, lost: false, lines: [] };
  const [message] = storyReport(alone({ app: dies })).verdict.findings.flatMap((one) =>
    one.code === 'exit-nonzero' ? [one.message] : [],
  );
  expect(message).toContain('STOPSIGNAL');
});
