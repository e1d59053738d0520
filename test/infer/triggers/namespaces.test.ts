/** A namespace that is being deleted takes its pods with it (SIGNALS.md §4), without any Event. */
import { describe, expect, it } from 'vitest';
import { adding, changed, judged, listed, markedIn, ownerOf, stampOf, storyReport, told } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { ownedCase } from '../../helpers/owned.ts';
import { somebody } from '../../helpers/story-changes.ts';

describe('a namespace that is being deleted', () => {
  const namespace = (deletedAt: number): Raw => ({
    kind: 'Namespace',
    metadata: { name: 'story', uid: 'uid-story', deletionTimestamp: stampOf(deletedAt) },
    spec: {},
    status: { phase: 'Terminating' },
  });

  it('is the trigger, and not the owners that go with it', () => {
    const { at, sightings } = ownedCase('StatefulSet', 'api');
    const all = adding(
      sightings,
      changed(at - 5, 'owner', ownerOf('StatefulSet', 'api'), 'DELETED'),
      listed(at + 20, 'namespace', namespace(at - 1000)),
    );
    expect(judged(all).trigger.kind).toBe('namespace-deletion');
  });

  it('is not the trigger where it came after the pod', () => {
    const sightings = told({ ...somebody });
    const { at } = markedIn(sightings);
    expect(judged(adding(sightings, listed(at + 3000, 'namespace', namespace(at + 2500)))).trigger.kind).toBe(
      'unknown',
    );
  });

  it('brings no Events: the kubelet is seen by its statuses alone', () => {
    const report = storyReport({ trigger: { kind: 'namespace-deletion', atMs: 1240 } });
    expect(report.marks.some(({ name }) => name === 'stopping')).toBe(false);
    expect(report.marks.some(({ name }) => name === 'acknowledged')).toBe(true);
    expect(report.verdict.outcome).toBe('graceful');
    expect(report.verdict.findings.map(({ code }) => code)).not.toContain('node-silent');
  });
});
