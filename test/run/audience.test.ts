/** The output on stdout during a run. */
import { expect, it } from 'vitest';
import { openOnDeletion } from '../../src/run/group/trace-pod.ts';
import { type Stage } from '../../src/output/view.ts';
import { openStage } from '../../src/output/stage.ts';
import type { Ports } from '../../src/run/ports.ts';
import type { Observation } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { observationsOf, rawObservationsOf } from '../helpers/recordings.ts';

it('ndjson prints nothing for a Date header alone', async () => {
  let written = '';
  const ports = { stdout: { write: (text: string) => (written += text) }, stderr: { write: () => {} } };
  const look = { color: 'never', ascii: true, timestamps: 'utc', logs: false } as const;
  const stage = await openStage({ kind: 'ndjson' }, look, ports as unknown as Ports);
  const seen = observationsOf(await rawObservationsOf('graceful-exit'));
  const dated = seen.flatMap((one): Observation[] => [
    one,
    { kind: 'dated', at: one.at, sentAt: one.at - 1, date: Math.floor(one.at / 1000) * 1000, seq: one.seq },
  ]);
  let [trace, shown, dates] = [emptyTrace, 0, 0];
  for (const [index, one] of dated.entries()) {
    const before = written;
    trace = reduce(trace, { ...one, seq: index + 1 });
    stage.step(trace, one);
    if (written !== before) shown += 1;
    if (one.kind !== 'dated') continue;
    dates += 1;
    expect(written).toBe(before);
  }
  expect(shown).toBeGreaterThan(5);
  expect(dates).toBeGreaterThan(shown);
});

it('opens the output when the DELETE is sent, and then shows the newest trace and every log line', async () => {
  const seen = observationsOf(await rawObservationsOf('graceful-exit'));
  const sent = seen.findIndex(({ kind }) => kind === 'requested');
  const shown: Observation[] = [];
  let opened = 0;
  const stage = openOnDeletion(() => {
    opened += 1;
    const step: Stage['step'] = (_, observation) => void shown.push(observation);
    return Promise.resolve({ step, end: () => Promise.resolve(), say: () => true, close: () => {} });
  });
  const line: Observation = { kind: 'line', seq: 0, at: seen[sent]?.at ?? 0, container: 'app', time: '' } as never;
  let trace = emptyTrace;
  const step = (observation: Observation): void => {
    trace = reduce(trace, observation);
    stage.step(trace, observation);
  };
  seen.slice(0, sent).forEach(step);
  stage.step(trace, line);
  expect([opened, stage.say('')]).toEqual([0, false]);
  seen.slice(sent, sent + 1).forEach(step);
  await Promise.resolve();
  await Promise.resolve();
  seen.slice(sent + 1, sent + 3).forEach(step);
  expect(opened).toBe(1);
  expect(shown).toEqual([line, ...seen.slice(sent, sent + 3)]);
});
