/** A hook that makes its application end and waits for it (`nginx -s quit; while …`) dies with it: no signal comes any more. */
import { describe, expect, it } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import { alone, containerOf, deaf, findingCodes, storyReport, told, judged, without } from '../../helpers/cases.ts';

/** It quits the application at once, which is gone `forMs` later. */
const quitting = (forMs: number) =>
  alone({
    preStop: { kind: 'exec', takesMs: 9000, fails: false, stopsAppMs: 20 },
    app: drains(forMs),
    logged: false,
  });

describe('a hook that its container took along', () => {
  it.each([300, 700, 1200, 2500, 4100])('tells no stop signal, where the application took %i ms', (forMs) => {
    const report = storyReport(quitting(forMs));
    expect(containerOf(report)).toMatchObject({ outcome: 'completed', preStop: { outcome: 'unknown' } });
    expect(containerOf(report).stopSignal).toBeUndefined();
    expect(report.marks.map(({ name }) => name)).not.toContain('stop-signal');
    expect(report.verdict.outcome).toBe('graceful');
  });

  it('failed by itself only where its container certainly went on', () => {
    const failing = alone({ preStop: { kind: 'exec', takesMs: 500, fails: true }, app: drains(2000), logged: false });
    expect(containerOf(storyReport(failing))).toMatchObject({ preStop: { outcome: 'failed' } });
    expect(containerOf(storyReport(failing)).stopSignal).toBeDefined();
  });

  it('is said to have failed with both its reasons, where both may be', () => {
    // Exit and failure in the same second, and no line of a log to tell them apart.
    const failed = [100, 150, 200, 250, 300].flatMap(
      (forMs) => storyReport(quitting(forMs)).verdict.findings.find(({ code }) => code === 'prestop-failed') ?? [],
    );
    expect(failed.length).toBeGreaterThan(0);
    for (const { message, advice } of failed) {
      expect(message).toMatch(/by itself or because app exited just then/);
      expect(advice).not.toMatch(/SIGTERM followed/);
    }
  });
});

describe('a hook that nobody heard of again', () => {
  it('may have eaten the grace of what ended about with it', () => {
    const overran = told(
      alone({ preStop: { kind: 'exec', takesMs: null, fails: false }, app: drains(500), logged: false }),
    );
    expect(judged(overran).verdict.outcome).toBe('overran');
    expect(judged(without(overran, 'events')).verdict.outcome).toBe('unknown');
  });

  it('has not where it ended long before', () => {
    const early = told(alone({ preStop: { kind: 'exec', takesMs: 1000, fails: false }, logged: false }));
    expect(judged(without(early, 'events')).verdict.outcome).toBe('graceful');
  });

  it('leaves what was killed at its end as it is', () => {
    const killed = told(alone({ preStop: { kind: 'exec', takesMs: 1000, fails: false }, app: deaf, logged: false }));
    expect(judged(killed).verdict.outcome).toBe('killed');
    expect(findingCodes(judged(killed))).toContain('killed-at-grace');
  });
});
