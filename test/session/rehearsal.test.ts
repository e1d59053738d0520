/** The conclusion that is drawn in advance, while the DELETE is on its way. */
import { expect, it } from 'vitest';
import { openStage } from '../../src/session/audience.ts';
import type { Stage } from '../../src/session/audience.ts';
import type { Ports } from '../../src/session/ports.ts';
import { rehearsing } from '../../src/session/rehearsal.ts';
import { run } from '../../src/session/run.ts';
import { timelineOf } from '../../src/trace/timeline.ts';
import type { Trace } from '../../src/trace/trace.ts';
import { sightingsOf } from '../helpers/recordings.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function ndjson(): Promise<{ stage: Stage; written: () => string }> {
  let text = '';
  const ports = {
    stdout: { write: (more: string) => (text += more) },
    stderr: { write: (more: string) => (text += more) },
  };
  const look = { color: 'never', ascii: true, timestamps: 'utc', logs: false } as const;
  return { stage: await openStage({ kind: 'ndjson' }, look, ports as unknown as Ports), written: () => text };
}

it('is of a pod that is marked, comes once, after the DELETE, and leaves the trace as it was', async () => {
  const rehearsed: Trace[] = [];
  const stage: Stage = {
    step: () => {},
    rehearse: (trace) => void rehearsed.push(trace),
    end: async () => {},
    say: () => false,
    close: () => {},
  };
  const trace = await run({
    source: await sightingsOf('graceful-exit'),
    logText: false,
    audience: rehearsing(stage),
  });
  expect(rehearsed).toEqual([]);
  await turn();
  expect(rehearsed).toHaveLength(1);
  expect(rehearsed.map((one) => timelineOf(one)?.marks.map(({ name }) => name))).toEqual([['requested', 'accepted']]);
  expect(trace.deletion?.first.value.metadata.deletionTimestamp).not.toBe(
    rehearsed[0]?.deletion?.first.value.metadata.deletionTimestamp,
  );
});

it('tells nobody', async () => {
  const [told, rehearsedToo] = [await ndjson(), await ndjson()];
  const source = await sightingsOf('graceful-exit');
  await run({ source, logText: false, audience: told.stage });
  await run({ source, logText: false, audience: rehearsing(rehearsedToo.stage) });
  await turn();
  expect(rehearsedToo.written()).toBe(told.written());
  expect(told.written()).toContain('"replacement-created');
});

it('keeps a fault to itself: it will show when it counts', async () => {
  const { stage, written } = await ndjson();
  stage.rehearse?.({ pod: { value: {} } } as Trace);
  expect(written()).toBe('');
});
