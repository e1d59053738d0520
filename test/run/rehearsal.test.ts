/** The conclusion that is drawn in advance, while the DELETE is on its way. */
import { expect, it } from 'vitest';
import { openStage } from '../../src/run/audience.ts';
import type { Stage } from '../../src/run/audience.ts';
import type { Ports } from '../../src/run/ports.ts';
import { rehearsing } from '../../src/run/rehearsal.ts';
import { run } from '../../src/run/run.ts';
import { conclusionsOf } from '../../src/infer/conclusions.ts';
import type { Trace } from '../../src/model/trace.ts';
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

function rehearsed(): { stage: Stage; marks: () => string[][] } {
  const traces: Trace[] = [];
  const nothing = { step: () => {}, end: async () => {}, say: () => false, close: () => {} };
  const stage = { ...nothing, rehearse: (trace: Trace) => void traces.push(trace) };
  return { stage, marks: () => traces.map((trace) => conclusionsOf(trace)?.marks.map(({ name }) => name) ?? []) };
}

const ports = { nextTurn: setImmediate, brace: () => {} };

it('is of what a DELETE is usually followed by, once, when it has been sent', async () => {
  const { stage, marks } = rehearsed();
  const all = await sightingsOf('graceful-exit');
  const until = all.findIndex(({ kind }) => kind === 'requested') + 1;
  await run({ source: all.slice(0, until), logText: false, audience: rehearsing(stage, ports) });
  expect(marks()).toEqual([]);
  for (const _ of Array.from({ length: 9 })) await turn();
  const stages = [
    ['requested', 'accepted'],
    ['stopping', 'acknowledged'],
    ['replacement-created'],
    ['stop-signal', 'exited', 'containers-done'],
    ['final-delete'],
    ['removed'],
  ];
  expect(marks().map((names) => [...names].sort())).toEqual(
    stages.map((_, to) =>
      stages
        .slice(0, to + 1)
        .flat()
        .sort(),
    ),
  );
});

it('is given up when it becomes serious', async () => {
  const { stage, marks } = rehearsed();
  await run({ source: await sightingsOf('graceful-exit'), logText: false, audience: rehearsing(stage, ports) });
  for (const _ of Array.from({ length: 9 })) await turn();
  expect(marks()).toEqual([]);
});

it('comes after the process has been made ready for news, once, when the DELETE has been written', async () => {
  const happened: string[] = [];
  const all = await sightingsOf('graceful-exit');
  const until = all.findIndex(({ kind }) => kind === 'requested') + 1;
  const stage = { ...rehearsed().stage, rehearse: () => void happened.push('rehearsed') };
  const audience = rehearsing(stage, { ...ports, brace: () => void happened.push('braced') });
  await run({ source: all.slice(0, until), logText: false, audience });
  expect(happened).toEqual([]);
  await turn();
  expect(happened.slice(0, 2)).toEqual(['braced', 'rehearsed']);
  for (const _ of Array.from({ length: 9 })) await turn();
  expect(happened.filter((what) => what === 'braced')).toHaveLength(1);
});

it('is done once, however often a server asks for the DELETE to be sent again', async () => {
  const { stage, marks } = rehearsed();
  const all = await sightingsOf('graceful-exit');
  const until = all.findIndex(({ kind }) => kind === 'requested') + 1;
  const again = all.slice(until - 1, until);
  let braced = 0;
  const source = [...all.slice(0, until), ...Array.from({ length: 12 }, () => again).flat()];
  await run({ source, logText: false, audience: rehearsing(stage, { ...ports, brace: () => void (braced += 1) }) });
  for (const _ of Array.from({ length: 9 })) await turn();
  expect(braced).toBe(1);
  expect(marks()).toHaveLength(6);
});

it('tells nobody', async () => {
  const [told, rehearsedToo] = [await ndjson(), await ndjson()];
  const source = await sightingsOf('graceful-exit');
  await run({ source, logText: false, audience: told.stage });
  await run({ source, logText: false, audience: rehearsing(rehearsedToo.stage, ports) });
  await turn();
  expect(rehearsedToo.written()).toBe(told.written());
  expect(told.written()).toContain('"replacement-created');
});

it('keeps a fault to itself: it will show when it counts', async () => {
  const all = await sightingsOf('graceful-exit');
  let [tries, steps] = [0, 0];
  const stage: Stage = {
    step: () => void (steps += 1),
    rehearse: () => {
      tries += 1;
      throw new Error('not yet');
    },
    end: async () => {},
    say: () => false,
    close: () => {},
  };
  const until = all.findIndex(({ kind }) => kind === 'requested') + 1;
  await run({ source: all.slice(0, until), logText: false, audience: rehearsing(stage, ports) });
  await turn();
  await turn();
  expect([tries, steps]).toEqual([1, until]);
});
