/** What is told on stdout while a run goes on. */
import { expect, it } from 'vitest';
import { openStage } from '../../src/run/audience.ts';
import type { Ports } from '../../src/run/ports.ts';
import type { Observation } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/empty-trace.ts';
import { observationsOf, sightingsOf } from '../helpers/recordings.ts';

it('ndjson tells nothing on a Date alone, and all that is new with the next observation', async () => {
  let written = '';
  const ports = { stdout: { write: (text: string) => (written += text) }, stderr: { write: () => {} } };
  const look = { color: 'never', ascii: true, timestamps: 'utc', logs: false } as const;
  const stage = await openStage({ kind: 'ndjson' }, look, ports as unknown as Ports);
  const seen = observationsOf(await sightingsOf('graceful-exit'));
  const dated = seen.flatMap((one): Observation[] => [
    one,
    { kind: 'dated', at: one.at, sentAt: one.at - 1, date: Math.floor(one.at / 1000) * 1000, seq: one.seq },
  ]);
  let [trace, told, dates] = [emptyTrace, 0, 0];
  for (const [index, one] of dated.entries()) {
    const before = written;
    trace = reduce(trace, { ...one, seq: index + 1 });
    stage.step(trace, one);
    if (written !== before) told += 1;
    if (one.kind !== 'dated') continue;
    dates += 1;
    expect(written).toBe(before);
  }
  expect(told).toBeGreaterThan(5);
  expect(dates).toBeGreaterThan(told);
});
