/** Which stop signal a card names: SIGTERM only if nothing that was seen speaks against it. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { endedLikeLive } from '../../scripts/convert/end-like-live.ts';
import { reportOf } from '../../src/advice/report.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { Report } from '../../src/verdict/report.ts';
import { alone, editing, ignoresSignal, storyObservations } from '../helpers/cases.ts';
import { mustRender, observationsOf, rawObservationsIn, traceOf } from '../helpers/recordings.ts';
import { drains } from '../sim/plain-story.ts';
import type { AppStory } from '../sim/story.ts';

const reportFrom = (rawObservations: readonly RawObservation[]): Report => {
  const report = reportOf(traceOf(observationsOf([...endedLikeLive(rawObservations)])));
  if (!report) throw new Error('no report');
  return report;
};

/** Its container starts with `sh -c LINE`, or has these other fields; its log lines are `text`. */
function stopped(app: AppStory, { container = {}, text }: { container?: object; text?: string }): Report {
  const withSpec = editing(storyObservations(alone({ app })), 'pod', ({ spec, ...one }) => {
    const containers = (spec['containers'] as object[]).map((known) => ({ ...known, ...container }));
    return { ...one, spec: { ...spec, containers } };
  });
  return reportFrom(withSpec.map((one) => (one.kind === 'line' && text !== undefined ? { ...one, text } : one)));
}

const script = (line: string) => ({ container: { command: ['sh', '-c', line] } });

describe('the card says "the stop signal"', () => {
  const cases: readonly [string, AppStory, Parameters<typeof stopped>[1]][] = [
    ['if the log names another one', drains(2000), { text: '1#1: signal 3 (SIGQUIT) received, shutting down' }],
    ['if its command handles SIGQUIT only', drains(2000), script('trap "exit 0" QUIT; while :; do sleep 0.2; done')],
    ['if its command handles SIGTERM, and was killed', ignoresSignal, script('trap "exit 0" TERM; sleep 9 & wait')],
    ['if the spec asks for another one', drains(2000), { container: { lifecycle: { stopSignal: 'SIGUSR1' } } }],
  ];
  it.each(cases)('%s', (_, app, change) => {
    const { answer, timeline } = stopped(app, change);
    expect(answer.headline).toMatch(/after the stop signal|to the stop signal/);
    expect(answer.headline).not.toContain('SIGTERM');
    expect(timeline.containers[0]?.stopSignal?.isPerhapsOther).toBe(true);
  });
});

describe('the card says SIGTERM', () => {
  const cases: readonly [string, AppStory, Parameters<typeof stopped>[1]][] = [
    ['of a plain application', drains(2000), {}],
    ['if the log names it beside another one', drains(2000), { text: 'got SIGTERM, sending SIGQUIT to workers' }],
    ['if its command handles SIGTERM, and ended', drains(2000), script('trap "exit 0" TERM; sleep 9 & wait')],
    ['if its command handles both', drains(2000), script('trap "exit 0" TERM INT; sleep 9 & wait')],
    ['if its command ignores it', ignoresSignal, script('trap "" TERM; app')],
  ];
  it.each(cases)('%s', (_, app, change) => {
    expect(stopped(app, change).answer.headline).toContain('SIGTERM');
  });
});

it('an image with STOPSIGNAL SIGQUIT kills a command that handles SIGTERM: look at the image, not at the grace period', async () => {
  const file = fileURLToPath(new URL('recordings/stop-signal-of-image.ndjson', import.meta.url));
  const { answer } = mustRender(traceOf(observationsOf(await rawObservationsIn(file))));
  expect(answer.headline).toBe('app was still running ≈6.0s after the stop signal (exit 137)');
  expect(answer.why).toMatch(/handles SIGTERM, and nothing shows that it came: its image may set another STOPSIGNAL/);
  expect(answer.advice.join()).toMatch(/look up the STOPSIGNAL of the image of app/);
  expect(answer.fix).toEqual([]);
});
