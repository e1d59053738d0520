/** What deleted the pod, for the rows of SIGNALS.md §4 that leave evidence of their own. */
import { describe, expect, it } from 'vitest';
import type { Story } from '../../sim/story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import type { TriggerKind } from '../../../src/model/report.ts';
import {
  adding,
  attached,
  changed,
  changesOf,
  editing,
  judged,
  listed,
  markedIn,
  ownerOf,
  recorded,
  storyReport,
  told,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { linesOf } from '../../helpers/owned.ts';
import { somebody } from '../../helpers/story-changes.ts';

const deployment: Story['owner'] = { kind: 'deployment', name: 'api', replicas: 2, readyAfterMs: 300 };
const deployed = {
  owner: deployment,
  pod: { name: 'api-5d4f-x2', graceSeconds: 10, state: 'running', finalizers: [] },
};

describe('the trigger is told where evidence tells it', () => {
  const stories: Record<string, [TriggerKind, Partial<Story>, RegExp]> = {
    'a NoExecute taint': ['taint', { trigger: { kind: 'taint', atMs: 1240 } }, /Event TaintManagerEviction/],
    'a device taint': [
      'device-taint',
      { trigger: { kind: 'device-taint', atMs: 1240 } },
      /DisruptionTarget: DeletionByDeviceTaintManager[^]*Event DeviceTaintManagerEviction/,
    ],
    'PodGC, as the node is gone': ['pod-gc', { trigger: { kind: 'pod-gc', atMs: 1240 } }, /DeletionByPodGC/],
    'a preemption': ['preemption', { trigger: { kind: 'preemption', atMs: 1240 } }, /PreemptionByScheduler/],
    'a rollout': ['rollout', { ...deployed, trigger: { kind: 'rollout', atMs: 1240 } } as Partial<Story>, /Scaling/],
    'a scale-down': [
      'scale-down',
      { ...deployed, trigger: { kind: 'scale-down', atMs: 1240 } } as Partial<Story>,
      /scaled/,
    ],
    'an owner that was deleted': [
      'owner-deleted',
      { ...deployed, trigger: { kind: 'owner-deleted', atMs: 1240 } } as Partial<Story>,
      /deleted/,
    ],
    'a Job that is suspended': [
      'job',
      { owner: { kind: 'job', name: 'report' }, trigger: { kind: 'job', atMs: 1240 } },
      /Event SuccessfulDelete/,
    ],
    'nobody that left evidence': ['unknown', { ...somebody }, /deletionTimestamp/],
  };
  it.each(Object.entries(stories))('%s', (_title, [kind, story, evidence]) => {
    const report = storyReport(story);
    expect(report.trigger.kind).toBe(kind);
    expect(linesOf(report).join('\n')).toMatch(evidence);
  });

  it('PodGC without a condition: Failed and grace 0 over containers that nobody stopped', () => {
    const forced = told({ trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 0 } });
    const failed = editing(forced, 'pod', (pod) =>
      pod.metadata['deletionTimestamp'] === undefined ? pod : { ...pod, status: { ...pod.status, phase: 'Failed' } },
    );
    expect(judged(failed).trigger.kind).toBe('pod-gc');
    expect(judged(forced).trigger.kind).toBe('unknown');
  });

  it('a drain: an eviction on a node that takes no new pods, which is part of the evidence', async () => {
    const sightings = attached(await recorded('evicted'));
    const cordoned = changesOf(sightings, 'node').at(0)?.object ?? nodeIn(sightings);
    const node = { ...cordoned, spec: { ...cordoned.spec, unschedulable: true } };
    const begin = sightings[0]?.at ?? 0;
    const drained = judged(adding(sightings, listed(begin + 60, 'node', node), changed(begin + 90, 'node', node)));
    expect(drained.trigger.kind).toBe('eviction-api');
    expect(linesOf(drained).join('\n')).toMatch(/node \S+ .*unschedulable/);
    expect(linesOf(judged(sightings)).join('\n')).not.toMatch(/unschedulable/);
  });
});

it('our own request is the trigger, whatever happened around it', () => {
  const sightings = told({ owner: { kind: 'job', name: 'report' } });
  const { at } = markedIn(sightings);
  const gone = changed(at - 2, 'owner', ownerOf('Deployment', 'api'), 'DELETED');
  expect(judged(adding(sightings, gone)).trigger.kind).toBe('this-command');
});

function nodeIn(sightings: readonly Sighting[]): Raw {
  const found = sightings.flatMap((one) => (one.kind === 'listed' && one.stream === 'node' ? one.objects : []))[0];
  if (!found) throw new Error('no node was listed');
  return found as Raw;
}
