/** What somebody did who wanted a false sentence in a report: another client's deletion came before ours. */
import { describe, expect, it } from 'vitest';
import {
  adding,
  changed,
  editing,
  findingCodes,
  hasMark,
  judged,
  markOf,
  markedIn,
  stampOf,
  told,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { asked } from '../../helpers/story-changes.ts';

const conditionsOf = (pod: Raw) => (pod.status['conditions'] ?? []) as { type: string }[];

const withoutCause = (pod: Raw): Raw => ({
  ...pod,
  status: { ...pod.status, conditions: conditionsOf(pod).filter(({ type }) => type !== 'DisruptionTarget') },
});

const withCause = (pod: Raw, reason: string): Raw => ({
  ...pod,
  status: { ...pod.status, conditions: [...conditionsOf(pod), { type: 'DisruptionTarget', status: 'True', reason }] },
});

const evicted = () => told({ trigger: { kind: 'eviction-api', atMs: 1240 } });

/** Every state of the deletion but the last DELETE's. */
const marking = (pod: Raw, grace: number, asked: number): Raw =>
  (pod.metadata['deletionGracePeriodSeconds'] ?? 0) === 0
    ? pod
    : {
        ...pod,
        metadata: {
          ...pod.metadata,
          deletionGracePeriodSeconds: grace,
          deletionTimestamp: stampOf(asked + grace * 1000),
        },
      };

describe('a deletion that somebody else had begun', () => {
  it('keeps its own grace, whichever grace ours asked for', () => {
    const sightings = told(asked(60));
    const sent = sightings.find((one) => one.kind === 'requested')?.at ?? NaN;
    const report = judged(editing(sightings, 'pod', (pod) => marking(pod, 10, sent - 1400)));
    expect(report.trigger.kind).toBe('unknown');
    expect(Date.parse(markOf(report, 'accepted').at.earliest)).toBeLessThanOrEqual(sent - 1400);
    expect(Date.parse(markOf(report, 'accepted').at.latest)).toBeGreaterThanOrEqual(sent - 1400);
    expect(hasMark(report, 'requested')).toBe(false);
    expect(report.verdict.findings.find(({ code }) => code === 'deleted-before')?.message).toMatch(
      /10s instead of the 60s/,
    );
    expect(judged(sightings).trigger.kind).toBe('this-command');
    expect(findingCodes(judged(sightings))).not.toContain('deleted-before');
  });

  it('was asked for before ours was sent, by the stamps of the API server', () => {
    const sightings = told({ trigger: { kind: 'this-command', atMs: 4240, graceSeconds: null, uid: false } });
    const sent = sightings.find((one) => one.kind === 'requested')?.at ?? NaN;
    const report = judged(editing(sightings, 'pod', (pod) => marking(pod, 10, sent - 3500)));
    expect(report.trigger.kind).toBe('unknown');
    expect(findingCodes(report)).toContain('deleted-before');
    expect(report.assumes.map(({ name }) => name)).toContain('server-skew');
  });

  it('gets the condition of our eviction only afterwards', () => {
    const sightings = evicted();
    const { at, object } = markedIn(sightings);
    const versionOf = ({ metadata }: Raw): bigint => BigInt(String(metadata['resourceVersion']));
    const version = versionOf(object);
    const late = editing(sightings, 'pod', (pod) => (versionOf(pod) <= version ? withoutCause(pod) : pod));
    const added = { ...object, metadata: { ...object.metadata, resourceVersion: String(version + 1n) } };
    const story = adding(late, changed(at + 3, 'pod', added));
    expect(judged(story).trigger.kind).toBe('unknown');
    expect(findingCodes(judged(story))).toContain('deleted-before');
    expect(judged(sightings).trigger.kind).toBe('eviction-api');
    expect(findingCodes(judged(sightings))).not.toContain('deleted-before');
  });

  it('was an eviction or a taint where its condition came with deletionTimestamp, and not where it had stood before', () => {
    const sightings = told();
    const caused = (reason: string) => (pod: Raw) =>
      pod.metadata['deletionTimestamp'] === undefined ? pod : withCause(pod, reason);
    const triggerWith = (reason: string) => judged(editing(sightings, 'pod', caused(reason))).trigger.kind;
    expect(triggerWith('EvictionByEvictionAPI')).toBe('eviction-api');
    expect(triggerWith('DeletionByTaintManager')).toBe('taint');
    expect(triggerWith('TerminationByKubelet')).toBe('this-command');
    const lingering = editing(sightings, 'pod', (pod) => withCause(pod, 'EvictionByEvictionAPI'));
    expect(judged(lingering).trigger.kind).toBe('this-command');
  });
});
