/** The replacement step by step: created, scheduled, started, ready. Each has the clock that wrote its timestamp. */
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/model/report.ts';
import type { Raw } from '../helpers/cases.ts';
import { editing, judged, markOf, recorded, stampOf } from '../helpers/cases.ts';

type Status = { name: string; state: { running?: { startedAt: string } } };

const graceful = await recorded('graceful-exit');
const known = judged(graceful).replacement;

/** `edit` changes every state of the replacement. */
const withReplacement = (edit: (pod: Raw, statuses: Status[]) => void) =>
  judged(
    editing(graceful, 'siblings', (pod) => {
      if (pod.metadata.uid === known?.uid) edit(pod, (pod.status['containerStatuses'] ?? []) as Status[]);
      return pod;
    }),
  );

const widthOf = (instant: Instant | undefined): number =>
  instant ? Date.parse(instant.latest) - Date.parse(instant.earliest) : NaN;

describe('a replacement', () => {
  it('is reported step by step, and its times are those of the marks', () => {
    const report = judged(graceful);
    const steps = [known?.createdAt, known?.scheduledAt, known?.startedAt, known?.readyAt];
    const latest = steps.map((step) => Date.parse(step?.latest ?? ''));
    expect(latest).toEqual([...latest].sort((a, b) => a - b));
    expect(markOf(report, `replacement-scheduled/${known?.name}`).at).toEqual(known?.scheduledAt);
    expect(markOf(report, `replacement-started/${known?.name}`).at).toEqual(known?.startedAt);
    expect(steps.every((step) => step?.evidence.length)).toBe(true);
  });

  it('has the name of its predecessor in a StatefulSet, but another uid', async () => {
    const { pod, replacement } = judged(await recorded('statefulset'));
    expect(replacement?.name).toBe(pod.name);
    expect(replacement?.uid).not.toBe(pod.uid);
    expect(replacement?.scheduledAt).toBeDefined();
  });

  it('is dated by the node’s clock if it runs on the same node', () => {
    expect(widthOf(known?.startedAt)).toBeLessThan(200);
  });

  it('is not dated by the clock of another node, which is unknown', () => {
    const elsewhere = withReplacement((pod, statuses) => {
      pod.spec['nodeName'] = 'another';
      for (const { state } of statuses)
        if (state.running) state.running.startedAt = stampOf(Date.parse(state.running.startedAt) + 3_600_000);
    }).replacement;
    expect(elsewhere?.startedAt?.latest).toBe(known?.startedAt?.latest);
    expect(elsewhere?.startedAt?.earliest).toBe(elsewhere?.scheduledAt?.earliest);
  });

  it('has not started while one of its containers waits', () => {
    const waiting = withReplacement((pod, statuses) => {
      pod.spec['containers'] = [...(pod.spec['containers'] as object[]), { name: 'slow' }];
      statuses.push({ name: 'slow', state: {} });
    }).replacement;
    expect(waiting?.scheduledAt).toBeDefined();
    expect(waiting?.startedAt).toBeUndefined();
  });
});
