/** Cards of exits that no recording has: a probable kill, a failed gate, an ignored signal after a long hook. */
import { expect, it } from 'vitest';
import { cardLines } from '../../src/output/text/card.ts';
import { penFor, plainStyle } from '../../src/output/palette.ts';
import { endedLikeLive } from '../../scripts/convert/end-like-live.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import type { Policy } from '../../src/verdict/policy.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { reportOf } from '../../src/advice/report.ts';
import type { ContainerStory, Story } from '../sim/story.ts';
import { drains, plainContainer } from '../sim/plain-story.ts';
import { alone, editing, ignoresSignal, storyObservations } from '../helpers/cases.ts';
import { observationsOf, traceOf } from '../helpers/recordings.ts';
import { asked, pod } from '../helpers/story-changes.ts';

const judged = (container: Partial<ContainerStory>, policy?: Policy, change?: Partial<Story>) =>
  reportOf(traceOf(observationsOf([...endedLikeLive(storyObservations(alone(container, change)))])), policy);

function cardOf(container: Partial<ContainerStory>, policy?: Policy, change?: Partial<Story>): string {
  const report = judged(container, policy, change);
  return report ? cardLines(report, { pen: penFor(plainStyle), columns: 200 }).join('\n') : '';
}

it('says "probably" of a SIGKILL if the app may have exited 137 by itself', () => {
  const card = cardOf({ app: drains(9900, 137) });
  expect(card).toMatch(/^✖ SIGKILLed {2}app was probably killed when its 10s grace period ended/);
  expect(card).toContain('137 may also be its own exit code');
  expect(card).toContain('probably SIGKILL');
});

it('marks such a kill in the report as probable, and a certain one not', () => {
  const probableIn = (app: ContainerStory['app']) => {
    const report = judged({ app });
    return report && exitReportOf(report).containers.map(({ outcome, probable }) => [outcome, probable]);
  };
  expect(probableIn(drains(9900, 137))).toEqual([['killed', true]]);
  expect(probableIn(ignoresSignal)).toEqual([['killed', undefined]]);
});

it('says "probably" of every SIGKILL within a second of the end of the grace period if no log was available', () => {
  const withoutLogs = (app: ContainerStory['app']) => {
    const rawObservations = storyObservations(alone({ app })).filter(({ kind }) => !kind.startsWith('log'));
    const report = reportOf(traceOf(observationsOf([...endedLikeLive(rawObservations)])));
    return report && exitReportOf(report).containers.map(({ outcome, probable }) => [outcome, probable]);
  };
  expect(withoutLogs(drains(9790, 137))).toEqual([['killed', true]]);
  expect(withoutLogs(ignoresSignal)).toEqual([['killed', true]]);
});

it('prints a failed gate twice, with its explain command', () => {
  const card = cardOf({ app: drains(2000, 0) }, { gates: [{ kind: 'max-duration', ms: 1000 }], warnOnly: false });
  expect(card.match(/took 3\.\ds/g)).toHaveLength(2);
  expect(card).toContain('kubectl podexit explain max-duration');
});

it('names the long hook and the ignored signal, and advises on the handler first', () => {
  const card = cardOf({ app: ignoresSignal, preStop: { kind: 'sleep', seconds: 7 } });
  expect(card).toMatch(/^✖ SIGKILLed {2}preStop took ≈?7\.\ds of 10s and left app 3s/);
  expect(card).toMatch(/why +no log line of app after SIGTERM/);
  expect(card).toMatch(/fix +check that app has a handler for its stop signal/);
});

it('does not propose only a longer grace period if the app ignores SIGTERM', () => {
  expect(cardOf({ app: ignoresSignal })).not.toMatch(/fix +in its manifest: grace period/);
});

it.each([['as advice', 30, /^ +fix +the deletion asked for 2s instead of the spec's 30s: delete without$/m]])(
  'names once that the deletion asked for a shorter grace period, %s',
  (_, graceSeconds, row) => {
    const card = cardOf({ app: drains(6000) }, undefined, { ...pod({ graceSeconds }), ...asked(2) });
    expect(card).toMatch(row);
    expect(card.match(/the deletion asked for/g)).toHaveLength(1);
  },
);

/** What the finding prestop-heavy says, as part of a sentence. */
const heavyHook = (rawObservations: readonly RawObservation[]): string | undefined =>
  reportOf(traceOf(observationsOf([...endedLikeLive(rawObservations)])))?.verdict.findings.find(
    ({ code }) => code === 'prestop-heavy',
  )?.clause;

it('names a range of seconds that a hook left, if it may have ended at any time before the exit', () => {
  const app = { ...drains(5400), saysOnSignal: undefined, saysBeforeExit: undefined };
  const hook = { preStop: { kind: 'exec', takesMs: 20_000, fails: false } as const };
  const rawObservations = storyObservations(alone({ app, logged: false, ...hook }, pod({ graceSeconds: 30 })));
  const sleeping = editing(rawObservations, 'pod', ({ spec, ...one }) => {
    const containers = (spec['containers'] as object[]).map((container) => ({
      ...container,
      lifecycle: { preStop: { exec: { command: ['sleep', '20'] } } },
    }));
    return { ...one, spec: { ...spec, containers } };
  });
  expect(heavyHook(sleeping)).toMatch(/of 30s and left app 5–10s$/);
});

it('says that a sidecar had at most what its hook left: it waits for its turn too', () => {
  const proxy = { name: 'proxy', kind: 'sidecar', preStop: { kind: 'sleep', seconds: 6 }, app: drains(500) } as const;
  const rawObservations = storyObservations({
    containers: [plainContainer({ app: drains(8000) }), plainContainer(proxy)],
  });
  expect(heavyHook(rawObservations)).toMatch(/of 10s and left proxy at most 4s$/);
});
