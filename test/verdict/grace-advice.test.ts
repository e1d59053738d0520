/** Advice on a grace period that was too short, because of the spec or because the deletion requested a shorter one. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer } from '../sim/plain-story.ts';
import type { AppStory, ContainerStory } from '../sim/story.ts';
import type { ExitReport, Finding, FindingCode } from '../../src/model/report.ts';
import { alone, attached, ignoresSignal, judged, storyReport, storyObservations } from '../helpers/cases.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { asked, pod } from '../helpers/story-changes.ts';

const findingOf = ({ verdict }: ExitReport, code: FindingCode): Finding | undefined =>
  verdict.findings.find((finding) => finding.code === code);

const adviceOf = (report: ExitReport, code: FindingCode): string => findingOf(report, code)?.advice ?? '';

/** A pod of 30 s, deleted with `graceSeconds`. */
const lowered = (graceSeconds: number | null, container: Partial<ContainerStory>) =>
  storyReport({ ...alone(container), ...pod({ graceSeconds: 30 }), ...asked(graceSeconds) });

const sidecar = (app: AppStory, change: Partial<ContainerStory> = {}) =>
  plainContainer({ name: 'proxy', kind: 'sidecar', app, ...change });

describe('a deletion with a shorter grace period than the spec', () => {
  it('is named as the cause of a kill, instead of the spec', () => {
    const advice = adviceOf(lowered(2, { app: drains(6000) }), 'killed-at-grace');
    expect(advice).toBe(
      "The deletion asked for 2s instead of the spec's 30s: delete without --grace-period, --now and --force, or make app exit sooner.",
    );
  });

  it('is named as the cause of a hook that was cut off', () => {
    const advice = adviceOf(lowered(1, { preStop: { kind: 'sleep', seconds: 3 } }), 'prestop-cut-off');
    expect(advice).toMatch(/^The deletion asked for 1s instead of the spec's 30s: .*, or shorten the hook\.$/);
  });

  it('is named as the cause of a heavy hook and of a grace period nearly spent', () => {
    const report = lowered(8, { preStop: { kind: 'sleep', seconds: 6 }, app: drains(300) });
    for (const code of ['prestop-heavy', 'grace-nearly-spent'] as const)
      expect(adviceOf(report, code)).toMatch(
        /asked for 8s instead of the spec's 30s.*, or shorten the (preStop )?hook/,
      );
  });

  it('is named as the cause of the kill of a sidecar', () => {
    const slow = sidecar(drains(9000));
    const report = storyReport({
      containers: [plainContainer({ app: drains(100) }), slow],
      ...pod({ graceSeconds: 30 }),
      ...asked(4),
    });
    expect(adviceOf(report, 'sidecar-killed')).toMatch(/asked for 4s instead .* or make proxy exit sooner\.$/);
  });

  it('is also named if another client sent it', () => {
    const theirs = storyObservations({
      ...alone({ app: drains(6000) }),
      ...pod({ graceSeconds: 30 }),
      trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 3 },
    });
    expect(adviceOf(judged(attached(theirs)), 'killed-at-grace')).toMatch(/asked for 3s instead of the spec's 30s/);
  });

  it('does not hide that the spec is too short too', () => {
    const advice = adviceOf(lowered(5, { preStop: { kind: 'sleep', seconds: 40 } }), 'prestop-cut-off');
    expect(advice).toMatch(
      /^Shorten the preStop hook of app well below its 5s grace period: .*, as no other pod was ready, and nothing replaces this one/,
    );
  });

  it('is not named if the pod had its whole grace period', () => {
    for (const grace of [null, 30])
      expect(adviceOf(lowered(grace, { app: ignoresSignal }), 'killed-at-grace')).toMatch(
        /^Check that app has a handler/,
      );
  });

  it('with force makes a hook that was cut off a warning instead of an error', () => {
    const hook = { preStop: { kind: 'sleep', seconds: 3 } } as const;
    expect(findingOf(lowered(0, hook), 'prestop-cut-off')?.severity).toBe('warning');
    expect(findingOf(lowered(1, hook), 'prestop-cut-off')?.severity).toBe('error');
  });
});

describe('a sidecar', () => {
  it('that ignores its stop signal gets no advice to raise the grace period', () => {
    const report = storyReport({ containers: [plainContainer({ app: drains(500) }), sidecar(ignoresSignal)] });
    expect(report.verdict.outcome).toBe('graceful');
    expect(findingOf(report, 'no-signal-handling')?.message).toMatch(/^proxy showed no reaction to SIGTERM/);
    expect(adviceOf(report, 'sidecar-killed')).toMatch(/^Check that proxy has a handler for its stop signal/);
  });

  it('that logs something after its signal counts as slow', () => {
    const report = storyReport({ containers: [plainContainer({ app: drains(500) }), sidecar(drains(30_000))] });
    expect(findingOf(report, 'no-signal-handling')).toBeUndefined();
    expect(adviceOf(report, 'sidecar-killed')).toMatch(/^Grace period 15s \(/);
  });

  it('that waited for a main container gets more time only once that handles its signal', () => {
    const held = sidecar(drains(0), { preStop: { kind: 'sleep', seconds: 6 } });
    const report = storyReport({
      containers: [plainContainer({ app: ignoresSignal }), held],
      ...pod({ graceSeconds: 7 }),
    });
    expect(adviceOf(report, 'grace-nearly-spent')).toMatch(
      /^Once its signal is handled: grace period 45s \(6s preStop \+ 30s to stop \(Kubernetes' default\)/,
    );
  });

  it('that used the grace period for its own hook gets one that fits both', () => {
    const hooked = sidecar(drains(0), { preStop: { kind: 'sleep', seconds: 6 } });
    const report = storyReport({
      containers: [plainContainer({ app: drains(100) }), hooked],
      ...pod({ graceSeconds: 7 }),
    });
    expect(adviceOf(report, 'grace-nearly-spent')).toMatch(
      /^Grace period 45s \(6s preStop \+ 30s to stop \(Kubernetes' default\)/,
    );
  });
});

it.each(['sigkill-after-grace', 'multi-container', 'no-grace-spec-default', 'grace-shortened'])(
  'the kill in %s, without a hook, is not reported before the end of the grace period',
  async (name) => {
    const report = await reportOfRecording(name);
    const [, least] =
      / was (?:probably )?SIGKILLed \D*(\d+(?:\.\d+)?)s after SIGTERM/.exec(
        findingOf(report, 'killed-at-grace')?.message ?? '',
      ) ?? [];
    expect(Number(least)).toBeGreaterThanOrEqual(report.grace.effectiveSeconds);
  },
);
