/** Which platform was behind an eviction, by its Events about the pod or the node. */
import { describe, expect, it } from 'vitest';
import { adding, changed, eventOf, judged, markedIn, recorded } from '../../helpers/cases.ts';

const evicted = await recorded('evicted');
const { at, object: pod } = markedIn(evicted);
const node = { kind: 'Node', name: String((pod as { spec?: { nodeName?: string } }).spec?.nodeName) };
const ofPod = { kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid };

/** The trigger of the eviction if the Event arrives `ms` before it. */
function triggerWith(reason: string, { about = ofPod as object, message = 'text', component = 'kubelet', ms = 20 }) {
  const event = eventOf(about as typeof ofPod, { reason, message, component }, { at: at - ms });
  const { kind, note } = judged(
    adding(evicted, changed(at + 30, 'kind' in about && about === node ? 'node-events' : 'events', event, 'ADDED')),
  ).trigger;
  return { kind, note };
}

describe('an eviction names the platform that reports it', () => {
  it.each([
    ['Evicted', { message: 'Evicted pod: Underutilized', component: 'karpenter' }, 'by Karpenter (Underutilized)'],
    ['ScaleDown', { component: 'cluster-autoscaler' }, 'by the cluster autoscaler, which removes the node'],
    ['EvictedByVPA', { component: 'vpa-updater' }, 'by the vertical pod autoscaler, to change its resources'],
    ['LowNodeUtilization', { component: 'sigs.k8s.io.descheduler' }, 'by the descheduler'],
    ['SpotInterrupted', { about: node, ms: 60_000 }, 'after the spot interruption of its node'],
    [
      'Shutdown',
      { about: node, message: 'Shutdown manager detected shutdown event' },
      'after its node began to shut down',
    ],
  ])('%s: %o', (reason, event, note) => expect(triggerWith(reason, event)).toEqual({ kind: 'eviction-api', note }));
});

describe('an eviction names no platform for an Event', () => {
  it.each([
    ['of a failed eviction by the descheduler', 'EvictionFailed', { component: 'sigs.k8s.io.descheduler' }],
    ['Evicted of another component', 'Evicted', { component: 'somebody' }],
    ['of the node, an hour ago', 'SpotInterrupted', { about: node, ms: 3_600_000 }],
    [
      'about a shutdown that was cancelled',
      'Shutdown',
      { about: node, message: 'Shutdown manager detected shutdown cancellation' },
    ],
  ])('%s', (_title, reason, event) => {
    const { kind, note } = triggerWith(reason, event);
    expect(kind).toBe('eviction-api');
    expect(note ?? '').not.toMatch(/^(by|after) /);
  });
});
